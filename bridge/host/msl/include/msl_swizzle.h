// The components of a vector, and its swizzles as properties: v.zyx calls a getter and, in an
// assignment, a setter.
// The compiler defines MSL_SWIZZLES_2, _3 and _4 as the swizzles that the text uses of vectors of
// that length, since to declare all of them takes long.
#pragma once

#ifndef MSL_SWIZZLES_4
#define MSL_SWIZZLES_2
#define MSL_SWIZZLES_3
#define MSL_SWIZZLES_4
#endif
#define MSL_SWIZZLES_8
#define MSL_SWIZZLES_16

#define MSL_NAMES_2(A, B, C, D) T A, B
#define MSL_NAMES_3(A, B, C, D) T A, B, C
#define MSL_NAMES_4(A, B, C, D) T A, B, C, D
#define MSL_AT_2(I) (I == 0 ? x : y)
#define MSL_AT_3(I) (I == 0 ? x : I == 1 ? y : z)
#define MSL_AT_4(I) (I == 0 ? x : I == 1 ? y : I == 2 ? z : w)
#define MSL_ZERO_2                                                                                 \
    x{}, y {}
#define MSL_ZERO_3                                                                                 \
    x{}, y{}, z {}
#define MSL_ZERO_4                                                                                 \
    x{}, y{}, z{}, w {}

// The components of the class NAME, as they lie in memory. They are members, not properties: a
// template may add to one of a vector whose type depends on its parameters, which the compiler does
// not see through a property. Constant expressions know them only by name.
#define MSL_COMPONENTS(NAME, N, ...)                                                               \
    union {                                                                                        \
        struct {                                                                                   \
            MSL_NAMES_##N(x, y, z, w);                                                             \
        };                                                                                         \
        struct {                                                                                   \
            MSL_NAMES_##N(r, g, b, a);                                                             \
        };                                                                                         \
        T data[N];                                                                                 \
        __VA_ARGS__                                                                                \
    };                                                                                             \
    NAME() = default;                                                                              \
    constexpr explicit NAME(int) : MSL_ZERO_##N {}                                                 \
    constexpr T &operator[](size_t i) {                                                            \
        if (__builtin_is_constant_evaluated()) return MSL_AT_##N(i);                               \
        return data[i];                                                                            \
    }                                                                                              \
    volatile T &operator[](size_t i) volatile {                                                    \
        return data[i];                                                                            \
    }                                                                                              \
    constexpr const T &operator[](size_t i) const {                                                \
        if (__builtin_is_constant_evaluated()) return MSL_AT_##N(i);                               \
        return data[i];                                                                            \
    }

namespace __msl {

// Components I... of a vector, to be changed in place: v.zx += 1.
template <class V, class W, int... I> class swizzle_reference {
  public:
    constexpr explicit swizzle_reference(V &of) : vector_(of) {}
    constexpr operator W() const { return W(vector_.get(I)...); }

#define MSL_CHANGE(OP)                                                                             \
    template <class B> constexpr W operator OP(const B &by) {                                      \
        W value = *this;                                                                           \
        value OP by;                                                                               \
        int k = 0;                                                                                 \
        (vector_.set(I, value.get(k++)), ...);                                                     \
        return value;                                                                              \
    }
    MSL_CHANGE(+=)
    MSL_CHANGE(-=)
    MSL_CHANGE(*=)
    MSL_CHANGE(/=)
    MSL_CHANGE(%=)
    MSL_CHANGE(&=)
    MSL_CHANGE(|=)
    MSL_CHANGE(^=)
    MSL_CHANGE(<<=)
    MSL_CHANGE(>>=)
#undef MSL_CHANGE

  private:
    V &vector_;
};

template <class W, int... I, class V> constexpr auto swizzle_of(V &vector) {
    return swizzle_reference<V, W, I...>(vector);
}

}  // namespace __msl

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

// The half of a vector of two is a scalar.
#define MSL_SWIZZLE1(NAME, I)                                                                      \
    constexpr T __get_##NAME() const {                                                             \
        return get(I);                                                                             \
    }                                                                                              \
    constexpr void __put_##NAME(T from) {                                                          \
        set(I, from);                                                                              \
    }                                                                                              \
    __declspec(property(get = __get_##NAME, put = __put_##NAME)) T NAME;
#define MSL_SWIZZLE2(NAME, I, J)                                                                   \
    MSL_GETTER(NAME, 2, get(I), get(J))                                                            \
    constexpr void __put_##NAME(const vec<T, 2> &from) {                                           \
        set(I, from.get(0)), set(J, from.get(1));                                                  \
    }                                                                                              \
    constexpr auto __at_##NAME() {                                                                 \
        return __msl::swizzle_of<vec<T, 2>, I, J>(*this);                                          \
    }                                                                                              \
    __declspec(property(get = __get_##NAME, put = __put_##NAME)) vec<T, 2> NAME;
#define MSL_SWIZZLE3(NAME, I, J, K)                                                                \
    MSL_GETTER(NAME, 3, get(I), get(J), get(K))                                                    \
    constexpr void __put_##NAME(const vec<T, 3> &from) {                                           \
        set(I, from.get(0)), set(J, from.get(1)), set(K, from.get(2));                             \
    }                                                                                              \
    constexpr auto __at_##NAME() {                                                                 \
        return __msl::swizzle_of<vec<T, 3>, I, J, K>(*this);                                       \
    }                                                                                              \
    __declspec(property(get = __get_##NAME, put = __put_##NAME)) vec<T, 3> NAME;
#define MSL_SWIZZLE4(NAME, I, J, K, L)                                                             \
    MSL_GETTER(NAME, 4, get(I), get(J), get(K), get(L))                                            \
    constexpr void __put_##NAME(const vec<T, 4> &from) {                                           \
        set(I, from.get(0)), set(J, from.get(1)), set(K, from.get(2)), set(L, from.get(3));        \
    }                                                                                              \
    constexpr auto __at_##NAME() {                                                                 \
        return __msl::swizzle_of<vec<T, 4>, I, J, K, L>(*this);                                    \
    }                                                                                              \
    __declspec(property(get = __get_##NAME, put = __put_##NAME)) vec<T, 4> NAME;
