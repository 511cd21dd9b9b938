// The swizzles of a vector, as properties: v.zyx and v.bgr call a getter and a setter. One macro
// level per letter picks each of the N components, over 300 names for four of them.
#pragma once

// name(index, xyzw letter, rgba letter) of the first N components. A macro cannot expand inside
// itself, hence one copy per level.
#define MSL_PICK1_2(F, ...) F(0, x, r, __VA_ARGS__) F(1, y, g, __VA_ARGS__)
#define MSL_PICK1_3(F, ...) MSL_PICK1_2(F, __VA_ARGS__) F(2, z, b, __VA_ARGS__)
#define MSL_PICK1_4(F, ...) MSL_PICK1_3(F, __VA_ARGS__) F(3, w, a, __VA_ARGS__)
#define MSL_PICK2_2(F, ...) F(0, x, r, __VA_ARGS__) F(1, y, g, __VA_ARGS__)
#define MSL_PICK2_3(F, ...) MSL_PICK2_2(F, __VA_ARGS__) F(2, z, b, __VA_ARGS__)
#define MSL_PICK2_4(F, ...) MSL_PICK2_3(F, __VA_ARGS__) F(3, w, a, __VA_ARGS__)
#define MSL_PICK3_2(F, ...) F(0, x, r, __VA_ARGS__) F(1, y, g, __VA_ARGS__)
#define MSL_PICK3_3(F, ...) MSL_PICK3_2(F, __VA_ARGS__) F(2, z, b, __VA_ARGS__)
#define MSL_PICK3_4(F, ...) MSL_PICK3_3(F, __VA_ARGS__) F(3, w, a, __VA_ARGS__)
#define MSL_PICK4_2(F, ...) F(0, x, r, __VA_ARGS__) F(1, y, g, __VA_ARGS__)
#define MSL_PICK4_3(F, ...) MSL_PICK4_2(F, __VA_ARGS__) F(2, z, b, __VA_ARGS__)
#define MSL_PICK4_4(F, ...) MSL_PICK4_3(F, __VA_ARGS__) F(3, w, a, __VA_ARGS__)

#define MSL_SWIZZLES(N)                                                                            \
    MSL_PICK1_##N(MSL_SWIZZLE1, ) MSL_PICK1_##N(MSL_SWIZZLES2_##N, )                               \
        MSL_PICK1_##N(MSL_SWIZZLES3_##N, ) MSL_PICK1_##N(MSL_SWIZZLES4_##N, )

#define MSL_SWIZZLES2_2(i, x, r, ...) MSL_PICK2_2(MSL_SWIZZLE2, i, x, r)
#define MSL_SWIZZLES2_3(i, x, r, ...) MSL_PICK2_3(MSL_SWIZZLE2, i, x, r)
#define MSL_SWIZZLES2_4(i, x, r, ...) MSL_PICK2_4(MSL_SWIZZLE2, i, x, r)
#define MSL_SWIZZLES3_2(i, x, r, ...) MSL_PICK2_2(MSL_SWIZZLES32_2, i, x, r)
#define MSL_SWIZZLES3_3(i, x, r, ...) MSL_PICK2_3(MSL_SWIZZLES32_3, i, x, r)
#define MSL_SWIZZLES3_4(i, x, r, ...) MSL_PICK2_4(MSL_SWIZZLES32_4, i, x, r)
#define MSL_SWIZZLES32_2(...) MSL_PICK3_2(MSL_SWIZZLE3, __VA_ARGS__)
#define MSL_SWIZZLES32_3(...) MSL_PICK3_3(MSL_SWIZZLE3, __VA_ARGS__)
#define MSL_SWIZZLES32_4(...) MSL_PICK3_4(MSL_SWIZZLE3, __VA_ARGS__)
#define MSL_SWIZZLES4_2(i, x, r, ...) MSL_PICK2_2(MSL_SWIZZLES42_2, i, x, r)
#define MSL_SWIZZLES4_3(i, x, r, ...) MSL_PICK2_3(MSL_SWIZZLES42_3, i, x, r)
#define MSL_SWIZZLES4_4(i, x, r, ...) MSL_PICK2_4(MSL_SWIZZLES42_4, i, x, r)
#define MSL_SWIZZLES42_2(...) MSL_PICK3_2(MSL_SWIZZLES43_2, __VA_ARGS__)
#define MSL_SWIZZLES42_3(...) MSL_PICK3_3(MSL_SWIZZLES43_3, __VA_ARGS__)
#define MSL_SWIZZLES42_4(...) MSL_PICK3_4(MSL_SWIZZLES43_4, __VA_ARGS__)
#define MSL_SWIZZLES43_2(...) MSL_PICK4_2(MSL_SWIZZLE4, __VA_ARGS__)
#define MSL_SWIZZLES43_3(...) MSL_PICK4_3(MSL_SWIZZLE4, __VA_ARGS__)
#define MSL_SWIZZLES43_4(...) MSL_PICK4_4(MSL_SWIZZLE4, __VA_ARGS__)

// The last component picked comes first among the arguments.
#define MSL_SWIZZLE1(i, x, r, ...)                                                                 \
    constexpr T __get_##i() const {                                                                \
        return get(i);                                                                             \
    }                                                                                              \
    constexpr void __put_##i(T value) {                                                            \
        set(i, value);                                                                             \
    }                                                                                              \
    __declspec(property(get = __get_##i, put = __put_##i)) T x, r;
#define MSL_SWIZZLE2(j, y, g, i, x, r)                                                             \
    constexpr vec<T, 2> __get_##i##j() const {                                                     \
        return {get(i), get(j)};                                                                   \
    }                                                                                              \
    constexpr void __put_##i##j(const __msl::assignable<vec<T, 2>, (i != j)> &from) {              \
        set(i, from.get(0)), set(j, from.get(1));                                                  \
    }                                                                                              \
    __declspec(property(get = __get_##i##j, put = __put_##i##j)) vec<T, 2> x##y, r##g;
#define MSL_SWIZZLE3(k, z, b, j, y, g, i, x, r)                                                    \
    constexpr vec<T, 3> __get_##i##j##k() const {                                                  \
        return {get(i), get(j), get(k)};                                                           \
    }                                                                                              \
    constexpr void __put_##i##j##k(                                                                \
        const __msl::assignable<vec<T, 3>, (i != j && i != k && j != k)> &from) {                  \
        set(i, from.get(0)), set(j, from.get(1)), set(k, from.get(2));                             \
    }                                                                                              \
    __declspec(property(get = __get_##i##j##k, put = __put_##i##j##k)) vec<T, 3> x##y##z, r##g##b;
#define MSL_SWIZZLE4(l, w, a, k, z, b, j, y, g, i, x, r)                                           \
    constexpr vec<T, 4> __get_##i##j##k##l() const {                                               \
        return {get(i), get(j), get(k), get(l)};                                                   \
    }                                                                                              \
    constexpr void __put_##i##j##k##l(                                                             \
        const __msl::assignable<vec<T, 4>, (i != j && i != k && i != l && j != k && j != l &&      \
                                            k != l)> &from) {                                      \
        set(i, from.get(0)), set(j, from.get(1)), set(k, from.get(2)), set(l, from.get(3));        \
    }                                                                                              \
    __declspec(property(get = __get_##i##j##k##l, put = __put_##i##j##k##l)) vec<T, 4> x##y##z##w, \
        r##g##b##a;
