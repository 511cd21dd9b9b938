// <metal_math>, without what is in msl_common.h.
#pragma once

namespace metal {

MSL_UNARY(acos, __builtin_acosf(x))
MSL_UNARY(acosh, __builtin_acoshf(x))
MSL_UNARY(asin, __builtin_asinf(x))
MSL_UNARY(asinh, __builtin_asinhf(x))
MSL_UNARY(atan, __builtin_atanf(x))
MSL_UNARY(atanh, __builtin_atanhf(x))
MSL_UNARY(ceil, __builtin_ceilf(x))
MSL_UNARY(cos, __builtin_cosf(x))
MSL_UNARY(cosh, __builtin_coshf(x))
MSL_UNARY(exp, __builtin_expf(x))
MSL_UNARY(exp10, __builtin_exp10f(x))
MSL_UNARY(exp2, __builtin_exp2f(x))
MSL_UNARY(fabs, __builtin_fabsf(x))
MSL_UNARY(floor, __builtin_floorf(x))
MSL_UNARY(fract, __builtin_fminf(x - __builtin_floorf(x), 0x1.fffffep-1f))
MSL_UNARY(log, __builtin_logf(x))
MSL_UNARY(log10, __builtin_log10f(x))
MSL_UNARY(log2, __builtin_log2f(x))
MSL_UNARY(logb, __builtin_logbf(x))
MSL_UNARY(rint, __builtin_rintf(x))
MSL_UNARY(round, __builtin_roundf(x))
MSL_UNARY(rsqrt, 1.0f / __builtin_sqrtf(x))
MSL_UNARY(sin, __builtin_sinf(x))
MSL_UNARY(sinh, __builtin_sinhf(x))
MSL_UNARY(sqrt, __builtin_sqrtf(x))
MSL_UNARY(tan, __builtin_tanf(x))
MSL_UNARY(tanh, __builtin_tanhf(x))
MSL_UNARY(trunc, __builtin_truncf(x))

}  // namespace metal

namespace __msl {

// The period is taken off before the multiplication by pi, where it still is exact.
inline float within_period(float x) {
    return x - 2.0f * __builtin_rintf(0.5f * x);
}

}  // namespace __msl

namespace metal {

MSL_UNARY(sinpi, __builtin_sinf(M_PI_F *__msl::within_period(x)))
MSL_UNARY(cospi, __builtin_cosf(M_PI_F *__msl::within_period(x)))
MSL_UNARY(tanpi, __builtin_tanf(M_PI_F *__msl::within_period(x)))

MSL_BINARY(atan2, __builtin_atan2f(x, y))
MSL_BINARY(copysign, __builtin_copysignf(x, y))
MSL_BINARY(fdim, __builtin_fdimf(x, y))
MSL_BINARY(fmod, __builtin_fmodf(x, y))
MSL_BINARY(pow, __builtin_powf(x, y))
MSL_BINARY(powr, __builtin_powf(x, y))
MSL_BINARY(divide, x / y)

inline float fma(float x, float y, float z) {
    return __builtin_fmaf(x, y, z);
}
inline half fma(half x, half y, half z) {
    return half(__builtin_fma(double(x), y, z));
}
template <class T, int N>
inline vec<T, N> fma(const vec<T, N> &x, const vec<T, N> &y, const vec<T, N> &z) {
    return __msl::map([](T a, T b, T c) { return fma(a, b, c); }, x, y, z);
}
MSL_OF_MIXED(fma)

inline float nextafter(float x, float y) {
    return __builtin_nextafterf(x, y);
}
// As numbers, the bits of positive halves are in the order of their values.
inline half nextafter(half x, half y) {
    if (isnan(x) || isnan(y)) return NAN;
    if (x == y) return y;
    if (x == half(0)) return copysign(as_type<half>(ushort(1)), y);
    const bool away = (x < y) == (x > half(0));
    return as_type<half>(ushort(as_type<ushort>(x) + (away ? 1 : -1)));
}
template <class T, int N> inline vec<T, N> nextafter(const vec<T, N> &x, const vec<T, N> &y) {
    return __msl::map([](T a, T b) { return nextafter(a, b); }, x, y);
}

inline float ldexp(float x, int exponent) {
    return __builtin_ldexpf(x, exponent);
}
inline half ldexp(half x, int exponent) {
    return half(__builtin_ldexpf(x, exponent));
}
template <class T, int N> inline vec<T, N> ldexp(const vec<T, N> &x, const vec<int, N> &exponent) {
    return __msl::map([](T a, int e) { return ldexp(a, e); }, x, exponent);
}
template <class T, int N> inline vec<T, N> ldexp(const vec<T, N> &x, int exponent) {
    return ldexp(x, vec<int, N>(exponent));
}

inline int ilogb(float x) {
    // What a math library says of zero and NaN differs between CPUs.
    return x == 0.0f || isnan(x) ? FP_ILOGB0 : __builtin_ilogbf(x);
}
template <class T, int N> inline vec<int, N> ilogb(const vec<T, N> &x) {
    return __msl::map([](T a) { return ilogb(float(a)); }, x);
}

// Two results: the second by reference.
#define MSL_TWO_RESULTS(T)                                                                         \
    inline T sincos(T x, T &cosine) {                                                              \
        cosine = cos(x);                                                                           \
        return sin(x);                                                                             \
    }                                                                                              \
    inline T modf(T x, T &whole) {                                                                 \
        whole = trunc(x);                                                                          \
        return copysign(x == whole ? T(0) : T(x - whole), x);                                      \
    }                                                                                              \
    inline T frexp(T x, int &exponent) {                                                           \
        return T(__builtin_frexpf(x, &exponent));                                                  \
    }
MSL_TWO_RESULTS(float)
MSL_TWO_RESULTS(half)
#undef MSL_TWO_RESULTS
template <class T, int N> inline vec<T, N> sincos(const vec<T, N> &x, vec<T, N> &cosine) {
    cosine = cos(x);
    return sin(x);
}
template <class T, int N> inline vec<T, N> modf(const vec<T, N> &x, vec<T, N> &whole) {
    whole = trunc(x);
    return __msl::map([](T a, T w) { return copysign(a == w ? T(0) : T(a - w), a); }, x, whole);
}
template <class T, int N> inline vec<T, N> frexp(const vec<T, N> &x, vec<int, N> &exponent) {
    vec<T, N> fraction;
    for (int i = 0; i < N; i++) {
        int e;
        fraction.set(i, frexp(x.get(i), e));
        exponent.set(i, e);
    }
    return fraction;
}

// How exact the functions are is the same everywhere here.
#define MSL_SAME(NAMESPACE)                                                                        \
    namespace NAMESPACE {                                                                          \
    using metal::acos, metal::acosh, metal::asin, metal::asinh, metal::atan, metal::atan2,         \
        metal::atanh, metal::ceil, metal::copysign, metal::cos, metal::cosh, metal::cospi,         \
        metal::divide, metal::exp, metal::exp10, metal::exp2, metal::fabs, metal::abs,             \
        metal::fdim, metal::floor, metal::fma, metal::fmax, metal::fmin, metal::fmod,              \
        metal::fract, metal::frexp, metal::ilogb, metal::ldexp, metal::log, metal::log10,          \
        metal::log2, metal::logb, metal::modf, metal::nextafter, metal::pow, metal::powr,          \
        metal::rint, metal::round, metal::rsqrt, metal::sin, metal::sincos, metal::sinh,           \
        metal::sinpi, metal::sqrt, metal::tan, metal::tanh, metal::tanpi, metal::trunc,            \
        metal::min, metal::max, metal::clamp, metal::saturate, metal::mix, metal::sign,            \
        metal::step, metal::smoothstep, metal::fmin3, metal::fmax3, metal::fmedian3, metal::min3,  \
        metal::max3, metal::median3;                                                               \
    }
MSL_SAME(precise)
MSL_SAME(fast)
#undef MSL_SAME

}  // namespace metal
