// Vectors of two, three and four scalars.
#pragma once
#include "msl_swizzle.h"

namespace metal {
template <class T, int N> struct vec;
template <class T, int N> struct packed_vec;
}  // namespace metal

namespace __msl {
using namespace metal;

template <class T>
inline constexpr bool is_element = is_arithmetic_v<T> || is_enum_v<T> || is_same_v<T, bfloat>;

// Components that a constructor's argument brings.
template <class T> inline constexpr int width = is_element<T> ? 1 : 0;
template <class T, int N> inline constexpr int width<vec<T, N>> = N;
template <class T, int N> inline constexpr int width<packed_vec<T, N>> = N;

// The compiler's own vector: gives size, alignment and arithmetic. Its alignment is natural, unlike
// that of alignas, so that -fmax-type-align makes loads tolerate less: rows of odd length put
// vectors at odd addresses, which GPUs accept.
template <class T, int N> struct native {
    typedef T type __attribute__((ext_vector_type(N)));
};
template <int N> struct native<bool, N> : native<uchar, N> {};
template <int N> struct native<bfloat, N> : native<ushort, N> {};
template <class T>
inline constexpr bool has_native_arithmetic = !is_same_v<T, bool> && !is_same_v<T, bfloat>;

// What may be assigned to a swizzle: nothing when it names a component twice.
template <class T> struct duplicated_component {
    T data;
};
template <class V, bool DISTINCT>
using assignable = conditional_t<DISTINCT, V, duplicated_component<V>>;

// What vectors of all lengths have in common.
template <class T, int N> struct vector_base {
    using vector = vec<T, N>;
    using native_type = typename native<T, N>::type;
    using flags = typename native<bool, N>::type;
    static constexpr int size = N;

    union {
        T data[N];
        native_type v;
    };

    vector_base() = default;
    template <class... S> constexpr vector_base(int, S... values) : data{values...} {}

    constexpr T &operator[](size_t i) { return data[i]; }
    constexpr const T &operator[](size_t i) const { return data[i]; }

    static vector of(native_type value) {
        vector result;
        result.v = value;
        return result;
    }
    template <class V> static vec<bool, N> of_flags(V value) {
        return vec<bool, N>::of(__builtin_convertvector(-value, flags));
    }

#define MSL_EACH(VECTOR, VALUE)                                                                    \
    VECTOR result{};                                                                               \
    for (int i = 0; i < N; i++)                                                                    \
        result.data[i] = VALUE;                                                                    \
    return result

// bfloat, and bool where it is arithmetic, go by component; so does everything in a constant
// expression, where the compiler's vectors cannot be taken apart.
#define MSL_BINARY_OPERATOR(OP)                                                                    \
    friend constexpr vector operator OP(vector a, vector b) {                                      \
        if constexpr (has_native_arithmetic<T>) {                                                  \
            if (!__builtin_is_constant_evaluated()) return of(a.v OP b.v);                         \
        }                                                                                          \
        MSL_EACH(vector, T(a.data[i] OP b.data[i]));                                               \
    }                                                                                              \
    friend constexpr vector &operator OP##=(vector & a, vector b) { return a = a OP b; }
    MSL_BINARY_OPERATOR(+)
    MSL_BINARY_OPERATOR(-)
    MSL_BINARY_OPERATOR(*)
    MSL_BINARY_OPERATOR(/)
    MSL_BINARY_OPERATOR(%)
    MSL_BINARY_OPERATOR(&)
    MSL_BINARY_OPERATOR(|)
    MSL_BINARY_OPERATOR(^)
    MSL_BINARY_OPERATOR(<<)
    MSL_BINARY_OPERATOR(>>)
#undef MSL_BINARY_OPERATOR

#define MSL_COMPARISON(OP)                                                                         \
    friend constexpr vec<bool, N> operator OP(vector a, vector b) {                                \
        if constexpr (has_native_arithmetic<T>) {                                                  \
            if (!__builtin_is_constant_evaluated()) return of_flags(a.v OP b.v);                   \
        }                                                                                          \
        using flag_vector = vec<bool, N>;                                                          \
        MSL_EACH(flag_vector, a.data[i] OP b.data[i]);                                             \
    }
    MSL_COMPARISON(==)
    MSL_COMPARISON(!=)
    MSL_COMPARISON(<)
    MSL_COMPARISON(>)
    MSL_COMPARISON(<=)
    MSL_COMPARISON(>=)
    MSL_COMPARISON(&&)
    MSL_COMPARISON(||)
#undef MSL_COMPARISON

    friend constexpr vector operator+(vector a) { return a; }
    friend constexpr vector operator-(vector a) { MSL_EACH(vector, T(-a.data[i])); }
    friend constexpr vector operator~(vector a) { MSL_EACH(vector, T(~a.data[i])); }
    friend constexpr vec<bool, N> operator!(vector a) {
        using flag_vector = vec<bool, N>;
        MSL_EACH(flag_vector, !a.data[i]);
    }
#undef MSL_EACH
    friend constexpr vector &operator++(vector &a) { return a += vector(T(1)); }
    friend constexpr vector &operator--(vector &a) { return a -= vector(T(1)); }
    friend constexpr vector operator++(vector &a, int) {
        const vector before = a;
        ++a;
        return before;
    }
    friend constexpr vector operator--(vector &a, int) {
        const vector before = a;
        --a;
        return before;
    }

  protected:
    constexpr void append(int &) {}
    template <class S, class... R> constexpr void append(int &i, const S &first, const R &...rest) {
        if constexpr (is_element<S>) {
            data[i++] = T(first);
        } else {
            for (int k = 0; k < width<S>; k++)
                data[i++] = T(first.data[k]);
        }
        append(i, rest...);
    }
    template <class U> constexpr void convert(const vec<U, N> &from) {
        if constexpr (has_native_arithmetic<T> && has_native_arithmetic<U>) {
            if (!__builtin_is_constant_evaluated()) {
                v = __builtin_convertvector(from.v, native_type);
                return;
            }
        }
        for (int i = 0; i < N; i++)
            data[i] = T(from.data[i]);
    }
};

}  // namespace __msl

namespace metal {

// Fewer values than components are an initialiser in braces: the rest are zero.
#define MSL_VECTOR(N, ...)                                                                         \
    template <class T> struct vec<T, N> : __msl::vector_base<T, N> {                               \
        using base = __msl::vector_base<T, N>;                                                     \
        using base::data;                                                                          \
        using base::v;                                                                             \
        vec() = default;                                                                           \
        template <class S, class = enable_if_t<__msl::is_element<S>>>                              \
        constexpr vec(S s) : base(0, __VA_ARGS__) {}                                               \
        template <class U, class = enable_if_t<!is_same_v<T, U>>>                                  \
        constexpr explicit vec(const vec<U, N> &from) : base(0, T()) {                             \
            base::convert(from);                                                                   \
        }                                                                                          \
        template <class A, class B, class... R,                                                    \
                  class = enable_if_t<                                                             \
                      (__msl::width<A> > 0 && __msl::width<B> > 0 &&                               \
                       __msl::width<A> + __msl::width<B> + (0 + ... + __msl::width<R>) <= N)>>     \
        constexpr vec(const A &a, const B &b, const R &...rest) : base(0, T()) {                   \
            int i = 0;                                                                             \
            base::append(i, a, b, rest...);                                                        \
        }                                                                                          \
        MSL_SWIZZLES(N)                                                                            \
    };
MSL_VECTOR(2, T(s), T(s))
MSL_VECTOR(3, T(s), T(s), T(s))
MSL_VECTOR(4, T(s), T(s), T(s), T(s))
#undef MSL_VECTOR

#define MSL_VECTORS(T)                                                                             \
    using T##2 = vec<T, 2>;                                                                        \
    using T##3 = vec<T, 3>;                                                                        \
    using T##4 = vec<T, 4>;
MSL_VECTORS(bool)
MSL_VECTORS(char)
MSL_VECTORS(uchar)
MSL_VECTORS(short)
MSL_VECTORS(ushort)
MSL_VECTORS(int)
MSL_VECTORS(uint)
MSL_VECTORS(long)
MSL_VECTORS(ulong)
MSL_VECTORS(half)
MSL_VECTORS(bfloat)
MSL_VECTORS(float)
#undef MSL_VECTORS

}  // namespace metal

// MSL's vectors are built in: they need no using-directive.
#define MSL_GLOBAL(T)                                                                              \
    using metal::T##2;                                                                             \
    using metal::T##3;                                                                             \
    using metal::T##4;
MSL_GLOBAL(bool)
MSL_GLOBAL(char)
MSL_GLOBAL(uchar)
MSL_GLOBAL(short)
MSL_GLOBAL(ushort)
MSL_GLOBAL(int)
MSL_GLOBAL(uint)
MSL_GLOBAL(long)
MSL_GLOBAL(ulong)
MSL_GLOBAL(half)
MSL_GLOBAL(bfloat)
MSL_GLOBAL(float)
#undef MSL_GLOBAL
