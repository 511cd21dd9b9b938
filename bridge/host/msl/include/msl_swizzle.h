// The swizzles of a vector, as properties: v.zyx calls a getter and, in an assignment, a setter.
// The compiler defines MSL_SWIZZLES_2, _3 and _4 as the swizzles that the text uses of vectors of
// that length, since to declare all of them takes long.
#pragma once

#ifndef MSL_SWIZZLES_4
#define MSL_SWIZZLES_2
#define MSL_SWIZZLES_3
#define MSL_SWIZZLES_4
#endif

#define MSL_COMPONENT(NAME, OTHER_NAME, I)                                                         \
    constexpr T __get_##NAME() const {                                                             \
        return get(I);                                                                             \
    }                                                                                              \
    constexpr void __put_##NAME(T value) {                                                         \
        set(I, value);                                                                             \
    }                                                                                              \
    __declspec(property(get = __get_##NAME, put = __put_##NAME)) T NAME, OTHER_NAME;
#define MSL_COMPONENTS_2 MSL_COMPONENT(x, r, 0) MSL_COMPONENT(y, g, 1)
#define MSL_COMPONENTS_3 MSL_COMPONENTS_2 MSL_COMPONENT(z, b, 2)
#define MSL_COMPONENTS_4 MSL_COMPONENTS_3 MSL_COMPONENT(w, a, 3)

#define MSL_GETTER(NAME, N, ...)                                                                   \
    constexpr vec<T, N> __get_##NAME() const {                                                     \
        return {__VA_ARGS__};                                                                      \
    }
#define MSL_CONSTANT_SWIZZLE2(NAME, I, J)                                                          \
    MSL_GETTER(NAME, 2, get(I), get(J))                                                            \
    __declspec(property(get = __get_##NAME)) vec<T, 2> NAME;
#define MSL_CONSTANT_SWIZZLE3(NAME, I, J, K)                                                       \
    MSL_GETTER(NAME, 3, get(I), get(J), get(K))                                                    \
    __declspec(property(get = __get_##NAME)) vec<T, 3> NAME;
#define MSL_CONSTANT_SWIZZLE4(NAME, I, J, K, L)                                                    \
    MSL_GETTER(NAME, 4, get(I), get(J), get(K), get(L))                                            \
    __declspec(property(get = __get_##NAME)) vec<T, 4> NAME;

#define MSL_SWIZZLE2(NAME, I, J)                                                                   \
    MSL_GETTER(NAME, 2, get(I), get(J))                                                            \
    constexpr void __put_##NAME(const vec<T, 2> &from) {                                           \
        set(I, from.get(0)), set(J, from.get(1));                                                  \
    }                                                                                              \
    __declspec(property(get = __get_##NAME, put = __put_##NAME)) vec<T, 2> NAME;
#define MSL_SWIZZLE3(NAME, I, J, K)                                                                \
    MSL_GETTER(NAME, 3, get(I), get(J), get(K))                                                    \
    constexpr void __put_##NAME(const vec<T, 3> &from) {                                           \
        set(I, from.get(0)), set(J, from.get(1)), set(K, from.get(2));                             \
    }                                                                                              \
    __declspec(property(get = __get_##NAME, put = __put_##NAME)) vec<T, 3> NAME;
#define MSL_SWIZZLE4(NAME, I, J, K, L)                                                             \
    MSL_GETTER(NAME, 4, get(I), get(J), get(K), get(L))                                            \
    constexpr void __put_##NAME(const vec<T, 4> &from) {                                           \
        set(I, from.get(0)), set(J, from.get(1)), set(K, from.get(2)), set(L, from.get(3));        \
    }                                                                                              \
    __declspec(property(get = __get_##NAME, put = __put_##NAME)) vec<T, 4> NAME;
