// min, max, clamp and abs of all arithmetic types, and <metal_common>.
#pragma once

namespace metal {

// Of a number and a NaN, the number.
#define MSL_EXTREME(NAME, BUILTIN, INTEGER)                                                        \
    constexpr float NAME(float x, float y) {                                                       \
        return BUILTIN(x, y);                                                                      \
    }                                                                                              \
    constexpr half NAME(half x, half y) {                                                          \
        return half(BUILTIN(float(x), float(y)));                                                  \
    }                                                                                              \
    template <class A, class B, class = __msl::if_arithmetic<A, B>,                                \
              class = enable_if_t<!is_same_v<A, B> || __is_integral(A)>>                           \
    constexpr __msl::common_t<A, B> NAME(A left, B right) {                                        \
        const __msl::common_t<A, B> x = left, y = right;                                           \
        if constexpr (__is_integral(__msl::common_t<A, B>))                                        \
            return INTEGER;                                                                        \
        else                                                                                       \
            return NAME(x, y);                                                                     \
    }                                                                                              \
    MSL_OF_VECTORS(NAME, __msl::if_arithmetic<T>)
MSL_EXTREME(min, __builtin_fminf, y < x ? y : x)
MSL_EXTREME(max, __builtin_fmaxf, x < y ? y : x)
MSL_EXTREME(fmin, __builtin_fminf, y < x ? y : x)
MSL_EXTREME(fmax, __builtin_fmaxf, x < y ? y : x)
#undef MSL_EXTREME

#define MSL_OF_THREE(NAME, VALUE)                                                                  \
    template <class A, class B, class C> constexpr auto NAME(const A &x, const B &y, const C &z) { \
        return VALUE;                                                                              \
    }
MSL_OF_THREE(min3, min(x, min(y, z)))
MSL_OF_THREE(max3, max(x, max(y, z)))
MSL_OF_THREE(median3, max(min(x, y), min(max(x, y), z)))
MSL_OF_THREE(fmin3, fmin(x, fmin(y, z)))
MSL_OF_THREE(fmax3, fmax(x, fmax(y, z)))
MSL_OF_THREE(fmedian3, fmax(fmin(x, y), fmin(fmax(x, y), z)))
#undef MSL_OF_THREE

template <class X, class L, class H, class = __msl::if_arithmetic<X, L, H>>
constexpr auto clamp(X x, L low, H high) {
    return min(max(x, low), high);
}
template <class X, class L, class H, class = __msl::if_bfloat_among<X, L, H>, class = void>
constexpr float clamp(X x, L low, H high) {
    return clamp(float(x), float(low), float(high));
}
template <class T, int N>
constexpr vec<T, N> clamp(const vec<T, N> &x, const vec<T, N> &low, const vec<T, N> &high) {
    return min(max(x, low), high);
}
MSL_OF_MIXED(clamp)

template <class T, class = __msl::if_arithmetic<T>> constexpr T abs(T x) {
    if constexpr (is_unsigned_v<T>)
        return x;
    else if constexpr (is_same_v<T, float>)
        return __builtin_fabsf(x);
    else
        return x < T(0) ? T(-x) : x;
}
template <class T, class = __msl::if_bfloat_among<T>, class = void> constexpr float abs(T x) {
    return abs(float(x));
}
template <class T, int N> constexpr vec<T, N> abs(const vec<T, N> &x) {
    return __msl::map([](T a) { return abs(a); }, x);
}
MSL_OF_PACKED(abs)

constexpr float saturate(float x) {
    return clamp(x, 0.0f, 1.0f);
}
constexpr half saturate(half x) {
    return clamp(x, half(0), half(1));
}
template <class T, int N> constexpr vec<T, N> saturate(const vec<T, N> &x) {
    return clamp(x, T(0), T(1));
}
MSL_OF_PACKED(saturate)

// 0 for a NaN; a zero keeps its sign.
constexpr float sign(float x) {
    return x > 0.0f ? 1.0f : x < 0.0f ? -1.0f : x == 0.0f ? x : 0.0f;
}
constexpr half sign(half x) {
    return half(sign(float(x)));
}
template <class T, int N, class = __msl::if_real<T>> constexpr vec<T, N> sign(const vec<T, N> &x) {
    return __msl::map([](T a) { return sign(a); }, x);
}
MSL_OF_PACKED(sign)

constexpr float mix(float x, float y, float a) {
    return x + (y - x) * a;
}
constexpr half mix(half x, half y, half a) {
    return x + (y - x) * a;
}
template <class T, int N>
constexpr vec<T, N> mix(const vec<T, N> &x, const vec<T, N> &y, const vec<T, N> &a) {
    return x + (y - x) * a;
}
MSL_OF_MIXED(mix)

constexpr float step(float edge, float x) {
    return x < edge ? 0.0f : 1.0f;
}
constexpr half step(half edge, half x) {
    return x < edge ? half(0.0f) : half(1.0f);
}
MSL_OF_VECTORS(step, __msl::if_real<T>)

constexpr float smoothstep(float low, float high, float x) {
    const float t = saturate((x - low) / (high - low));
    return t * t * (3.0f - 2.0f * t);
}
constexpr half smoothstep(half low, half high, half x) {
    const half t = saturate(half((x - low) / (high - low)));
    return t * t * (half(3.0f) - half(2.0f) * t);
}
template <class T, int N>
constexpr vec<T, N> smoothstep(const vec<T, N> &low, const vec<T, N> &high, const vec<T, N> &x) {
    return __msl::map([](T l, T h, T a) { return smoothstep(l, h, a); }, low, high, x);
}
MSL_OF_MIXED(smoothstep)

}  // namespace metal
