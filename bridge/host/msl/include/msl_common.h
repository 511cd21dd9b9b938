// <metal_common>, and min, max, clamp and abs of <metal_integer> and <metal_math>.
#pragma once

namespace metal {

// NAME(a, b) of scalars, of vectors, and of a vector and a scalar.
#define MSL_BINARY(NAME, VALUE)                                                                    \
    template <class A, class B, class = enable_if_t<__msl::are_arithmetic<A, B>>>                  \
    constexpr __msl::common_t<A, B> NAME(A left, B right) {                                        \
        const __msl::common_t<A, B> a = left, b = right;                                           \
        return VALUE;                                                                              \
    }                                                                                              \
    template <class T, int N> constexpr vec<T, N> NAME(const vec<T, N> &x, const vec<T, N> &y) {   \
        return __msl::map([](T a, T b) { return T(VALUE); }, x, y);                                \
    }                                                                                              \
    template <class T, int N, class S, class = enable_if_t<is_arithmetic_v<S>>>                    \
    constexpr vec<T, N> NAME(const vec<T, N> &x, S y) {                                            \
        return NAME(x, vec<T, N>(y));                                                              \
    }                                                                                              \
    template <class T, int N, class S, class = enable_if_t<is_arithmetic_v<S>>>                    \
    constexpr vec<T, N> NAME(S x, const vec<T, N> &y) {                                            \
        return NAME(vec<T, N>(x), y);                                                              \
    }
MSL_BINARY(min, b < a ? b : a)
MSL_BINARY(max, a < b ? b : a)
#undef MSL_BINARY

template <class X, class L, class H, class = enable_if_t<__msl::are_arithmetic<X, L, H>>>
constexpr auto clamp(X x, L low, H high) {
    return min(max(x, low), high);
}
template <class T, int N, class L, class H>
constexpr vec<T, N> clamp(const vec<T, N> &x, const L &low, const H &high) {
    return min(max(x, vec<T, N>(low)), vec<T, N>(high));
}

}  // namespace metal
