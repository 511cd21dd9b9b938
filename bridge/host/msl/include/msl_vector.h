// Vectors of two, three and four scalars, and of eight and sixteen.
#pragma once
#include "msl_swizzle.h"

namespace metal {
template <class T, int N> struct vec;
template <class T, int N> struct packed_vec;
}  // namespace metal

namespace __msl {
using namespace metal;

template <class T>
inline constexpr bool is_element = __is_arithmetic(T) || is_enum_v<T> || is_same_v<T, bfloat>;

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

// The values of a vector. Constant expressions go through the components, which the compiler can
// take apart; loops over them else through `v`, which its optimiser keeps in a register.
template <class T, int N> struct vector_values;
#define MSL_VALUES(N)                                                                              \
    template <class T> struct vector_values<T, N> {                                                \
        MSL_COMPONENTS(vector_values, N, typename native<T, N>::type v;)                           \
    };
MSL_VALUES(2)
MSL_VALUES(3)
MSL_VALUES(4)
#undef MSL_VALUES
// Wider ones have no names for their components.
#define MSL_VALUES(N)                                                                              \
    template <class T> struct vector_values<T, N> {                                                \
        union {                                                                                    \
            T data[N];                                                                             \
            typename native<T, N>::type v;                                                         \
        };                                                                                         \
        vector_values() = default;                                                                 \
        constexpr explicit vector_values(int) : data{} {}                                          \
        constexpr T &operator[](size_t i) {                                                        \
            return data[i];                                                                        \
        }                                                                                          \
        constexpr const T &operator[](size_t i) const {                                            \
            return data[i];                                                                        \
        }                                                                                          \
    };
MSL_VALUES(8)
MSL_VALUES(16)
#undef MSL_VALUES

// What vectors of all lengths have in common.
template <class T, int N> struct vector_base : vector_values<T, N> {
    using vector = vec<T, N>;
    using flags = vec<bool, N>;
    using native_type = typename native<T, N>::type;
    static constexpr int size = N;

    using vector_values<T, N>::vector_values;
    using vector_values<T, N>::v;

    constexpr T get(int i) const {
        if (__builtin_is_constant_evaluated()) return (*this)[i];
        if constexpr (is_same_v<T, bfloat>)
            return __builtin_bit_cast(bfloat, ushort(v[i]));
        else
            return T(v[i]);
    }
    constexpr void set(int i, T value) {
        if (__builtin_is_constant_evaluated())
            (*this)[i] = value;
        else if constexpr (is_same_v<T, bfloat>)
            v[i] = __builtin_bit_cast(ushort, value);
        else
            v[i] = value;
    }

    static vector of(native_type value) {
        vector result;
        result.v = value;
        return result;
    }
    // From a comparison of the compiler's vectors, which gives 0 or -1.
    template <class V> static flags of_mask(V value) {
        return flags::of(__builtin_convertvector(-value, typename flags::native_type));
    }

#define MSL_EACH(VECTOR, VALUE)                                                                    \
    VECTOR result{};                                                                               \
    for (int i = 0; i < N; i++)                                                                    \
        result.set(i, VALUE);                                                                      \
    return result

// bfloat, and bool where it is arithmetic, go by component. Operands are values, which those in
// volatile memory become; references would not bind to them.
#define MSL_BINARY_OPERATOR(OP)                                                                    \
    friend constexpr vector operator OP(vector a, vector b) {                                      \
        if constexpr (has_native_arithmetic<T>) {                                                  \
            if (!__builtin_is_constant_evaluated()) return of(a.v OP b.v);                         \
        }                                                                                          \
        MSL_EACH(vector, T(a.get(i) OP b.get(i)));                                                 \
    }                                                                                              \
    friend constexpr vector &operator OP##=(vector & a, const vector & b) { return a = a OP b; }   \
    friend void operator OP##=(volatile vector &a, const vector &b) { a = vector(a) OP b; }
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
    friend constexpr flags operator OP(vector a, vector b) {                                       \
        if constexpr (has_native_arithmetic<T>) {                                                  \
            if (!__builtin_is_constant_evaluated()) return of_mask(a.v OP b.v);                    \
        }                                                                                          \
        MSL_EACH(flags, a.get(i) OP b.get(i));                                                     \
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
    friend constexpr vector operator-(vector a) { MSL_EACH(vector, T(-a.get(i))); }
    friend constexpr vector operator~(vector a) { MSL_EACH(vector, T(~a.get(i))); }
    friend constexpr flags operator!(vector a) { MSL_EACH(flags, !a.get(i)); }
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
    constexpr void splat(T value) {
        for (int i = 0; i < N; i++)
            set(i, value);
    }
    constexpr void append(int &) {}
    template <class S, class... R> constexpr void append(int &i, const S &first, const R &...rest) {
        if constexpr (is_element<S>) {
            set(i++, T(first));
        } else {
            for (int k = 0; k < width<S>; k++)
                set(i++, T(first.get(k)));
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
            set(i, T(from.get(i)));
    }
};

}  // namespace __msl

namespace metal {

// Reads and writes volatile memory. Templates, as a vector must stay trivial to copy.
#define MSL_VOLATILE_VECTOR                                                                        \
    template <class V, class = enable_if_t<is_volatile_v<V> && is_same_v<remove_cv_t<V>, vec>>>    \
    vec(V &from) {                                                                                 \
        this->v = from.v;                                                                          \
    }                                                                                              \
    template <class V, class = enable_if_t<is_same_v<V, vec>>>                                     \
    volatile vec &operator=(const V &from) volatile {                                              \
        this->v = from.v;                                                                          \
        return *this;                                                                              \
    }

// Fewer values than components are an initialiser in braces: the rest are zero.
#define MSL_VECTOR(N)                                                                              \
    template <class T> struct vec<T, N> : __msl::vector_base<T, N> {                               \
        using base = __msl::vector_base<T, N>;                                                     \
        using base::get;                                                                           \
        using base::set;                                                                           \
        vec() = default;                                                                           \
        MSL_VOLATILE_VECTOR                                                                        \
        template <class S, class = enable_if_t<__msl::is_element<S>>>                              \
        constexpr vec(S value) : base(0) {                                                         \
            base::splat(T(value));                                                                 \
        }                                                                                          \
        template <class U, class = enable_if_t<!is_same_v<T, U>>>                                  \
        constexpr explicit vec(const vec<U, N> &from) : base(0) {                                  \
            base::convert(from);                                                                   \
        }                                                                                          \
        template <class U>                                                                         \
        constexpr explicit vec(const packed_vec<U, N> &from) : vec(from.operator vec<U, N>()) {}   \
        template <class A, class B, class... R,                                                    \
                  class = enable_if_t<                                                             \
                      (__msl::width<A> > 0 && __msl::width<B> > 0 &&                               \
                       __msl::width<A> + __msl::width<B> + (0 + ... + __msl::width<R>) <= N)>>     \
        constexpr vec(const A &a, const B &b, const R &...rest) : base(0) {                        \
            int i = 0;                                                                             \
            base::append(i, a, b, rest...);                                                        \
        }                                                                                          \
        MSL_SWIZZLES_##N                                                                           \
    };
MSL_VECTOR(2)
MSL_VECTOR(3)
MSL_VECTOR(4)
MSL_VECTOR(8)
MSL_VECTOR(16)
#undef MSL_VECTOR
#undef MSL_VOLATILE_VECTOR

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
