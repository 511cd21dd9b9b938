// How functions of scalars become functions of vectors.
#pragma once

namespace __msl {

template <class F, class T, int N, class... V>
constexpr auto map(F f, const vec<T, N> &a, const V &...others) {
    vec<decltype(f(a.get(0), others.get(0)...)), N> result{};
    for (int i = 0; i < N; i++)
        result.set(i, f(a.get(i), others.get(i)...));
    return result;
}

// The type in which operands of different scalar types meet.
template <class A, class B> struct common {
    using type = decltype(true ? A() : B());
};
template <class A> struct common<A, A> {
    using type = A;
};
template <class A, class B> using common_t = typename common<A, B>::type;

// bfloat has functions only through its conversion to float: sources bring overloads of their own.
template <class... T>
inline constexpr bool are_arithmetic = ((is_number<T> && !is_same_v<T, bfloat>) && ...);
template <class T> inline constexpr bool is_real = is_same_v<T, float> || is_same_v<T, half>;

template <class T> using if_real = enable_if_t<is_real<T>>;
template <class T> using if_integral = enable_if_t<is_integer<T>>;
template <class... T> using if_arithmetic = enable_if_t<are_arithmetic<T...>>;

// Metal has each function once for each type, to which scalars beside vectors then convert. The
// vector among arguments of which one is a scalar; nothing where there are none, or several kinds.
template <class V, class... R> struct vector_among {
    using type = V;
};
template <class V, class A, class... R>
struct vector_among<V, A, R...> : vector_among<conditional_t<are_arithmetic<A>, V, A>, R...> {};
template <class V> struct component {};
template <class T, int N> struct component<vec<T, N>> {
    using type = T;
};
template <class... A>
using scalar_beside_vector = typename component<
    enable_if_t<(are_arithmetic<A> || ...), typename vector_among<void, A...>::type>>::type;

}  // namespace __msl

// NAME(x) of float, half, integers (as float) and vectors. half goes by way of float, which rounds
// once.
#define MSL_UNARY(NAME, VALUE)                                                                     \
    inline float NAME(float x) {                                                                   \
        return VALUE;                                                                              \
    }                                                                                              \
    inline half NAME(half x) {                                                                     \
        return half(NAME(float(x)));                                                               \
    }                                                                                              \
    template <class T, class = __msl::if_integral<T>> inline float NAME(T x) {                     \
        return NAME(float(x));                                                                     \
    }                                                                                              \
    template <class T, int N, class = __msl::if_real<T>>                                           \
    inline vec<T, N> NAME(const vec<T, N> &x) {                                                    \
        return __msl::map([](T a) { return NAME(a); }, x);                                         \
    }

// Likewise NAME(x, y); two halves give a half, all other scalars a float.
#define MSL_BINARY(NAME, VALUE)                                                                    \
    inline float NAME(float x, float y) {                                                          \
        return VALUE;                                                                              \
    }                                                                                              \
    inline half NAME(half x, half y) {                                                             \
        return half(NAME(float(x), float(y)));                                                     \
    }                                                                                              \
    template <class A, class B, class = __msl::if_arithmetic<A, B>,                                \
              class = enable_if_t<!is_same_v<A, B> || __msl::is_integer<A>>>                       \
    inline float NAME(A x, B y) {                                                                  \
        return NAME(float(x), float(y));                                                           \
    }                                                                                              \
    MSL_OF_VECTORS(NAME, __msl::if_real<T>)

// NAME of two vectors, or of a vector and a scalar.
#define MSL_OF_VECTORS(NAME, ...)                                                                  \
    template <class T, int N, class = __VA_ARGS__>                                                 \
    constexpr vec<T, N> NAME(const vec<T, N> &x, const vec<T, N> &y) {                             \
        return __msl::map([](T a, T b) { return T(NAME(a, b)); }, x, y);                           \
    }                                                                                              \
    template <class T, int N, class S, class = __msl::if_arithmetic<S>>                            \
    constexpr vec<T, N> NAME(const vec<T, N> &x, S y) {                                            \
        return NAME(x, vec<T, N>(y));                                                              \
    }                                                                                              \
    template <class T, int N, class S, class = __msl::if_arithmetic<S>>                            \
    constexpr vec<T, N> NAME(S x, const vec<T, N> &y) {                                            \
        return NAME(vec<T, N>(x), y);                                                              \
    }

// NAME of three, of which one or two are scalars and the others vectors.
#define MSL_OF_MIXED(NAME)                                                                         \
    template <class A, class B, class C, class T = __msl::scalar_beside_vector<A, B, C>,           \
              class V = typename __msl::vector_among<void, A, B, C>::type>                         \
    constexpr V NAME(const A &a, const B &b, const C &c) {                                         \
        return NAME(V(a), V(b), V(c));                                                             \
    }
