// Names from inside Apple's library that public sources call.
#pragma once

#define __METAL_PRECISE_MATH__ false
#define __METAL_FAST_MATH__ true
#define __METAL_MAYBE_FAST_MATH__ true

// The last argument says how exact the result must be: here it always is.
#define MSL_BUILTIN1(NAME)                                                                         \
    template <class T> inline T __metal_##NAME(T x, bool) {                                        \
        return metal::NAME(x);                                                                     \
    }
#define MSL_BUILTIN2(NAME)                                                                         \
    template <class T> inline T __metal_##NAME(T x, T y, bool) {                                   \
        return metal::NAME(x, y);                                                                  \
    }
#define MSL_BUILTIN3(NAME)                                                                         \
    template <class T> inline T __metal_##NAME(T x, T y, T z, bool) {                              \
        return metal::NAME(x, y, z);                                                               \
    }
MSL_BUILTIN1(acos)
MSL_BUILTIN1(acosh)
MSL_BUILTIN1(asin)
MSL_BUILTIN1(asinh)
MSL_BUILTIN1(atan)
MSL_BUILTIN1(atanh)
MSL_BUILTIN1(ceil)
MSL_BUILTIN1(cos)
MSL_BUILTIN1(cosh)
MSL_BUILTIN1(cospi)
MSL_BUILTIN1(exp)
MSL_BUILTIN1(exp10)
MSL_BUILTIN1(exp2)
MSL_BUILTIN1(fabs)
MSL_BUILTIN1(floor)
MSL_BUILTIN1(fract)
MSL_BUILTIN1(log)
MSL_BUILTIN1(log10)
MSL_BUILTIN1(log2)
MSL_BUILTIN1(rint)
MSL_BUILTIN1(round)
MSL_BUILTIN1(rsqrt)
MSL_BUILTIN1(saturate)
MSL_BUILTIN1(sign)
MSL_BUILTIN1(sin)
MSL_BUILTIN1(sinh)
MSL_BUILTIN1(sinpi)
MSL_BUILTIN1(sqrt)
MSL_BUILTIN1(tan)
MSL_BUILTIN1(tanh)
MSL_BUILTIN1(tanpi)
MSL_BUILTIN1(trunc)
MSL_BUILTIN2(atan2)
MSL_BUILTIN2(divide)
MSL_BUILTIN2(fmax)
MSL_BUILTIN2(fmin)
MSL_BUILTIN2(fmod)
MSL_BUILTIN2(pow)
MSL_BUILTIN2(powr)
MSL_BUILTIN3(clamp)
MSL_BUILTIN3(fmax3)
MSL_BUILTIN3(fmedian3)
MSL_BUILTIN3(fmin3)
#undef MSL_BUILTIN1
#undef MSL_BUILTIN2
#undef MSL_BUILTIN3

inline float __metal_fma(float x, float y, float z) {
    return metal::fma(x, y, z);
}
inline float __metal_nextafter(float x, float y) {
    return metal::nextafter(x, y);
}
inline float __metal_ldexp(float x, int exponent, bool) {
    return metal::ldexp(x, exponent);
}
inline float __metal_frexp(float x, int *exponent) {
    return metal::frexp(x, *exponent);
}
inline float __metal_modf(float x, float *whole) {
    return metal::modf(x, *whole);
}
inline float __metal_sincos(float x, float *cosine, bool) {
    return metal::sincos(x, *cosine);
}

#define MSL_BUILTIN(NAME)                                                                          \
    template <class T> MSL_CONVERGENT inline T __metal_##NAME(T data, MSL_SITE) {                  \
        return metal::NAME(data, site);                                                            \
    }
MSL_BUILTIN(simd_sum)
MSL_BUILTIN(simd_product)
MSL_BUILTIN(simd_min)
MSL_BUILTIN(simd_max)
MSL_BUILTIN(simd_prefix_inclusive_sum)
MSL_BUILTIN(simd_prefix_exclusive_sum)
MSL_BUILTIN(simd_prefix_inclusive_product)
MSL_BUILTIN(simd_prefix_exclusive_product)
#undef MSL_BUILTIN

// Of the bits, whatever the type.
#define MSL_BUILTIN(NAME)                                                                          \
    template <class T> MSL_CONVERGENT inline T __metal_##NAME(T data, MSL_SITE) {                  \
        if constexpr (metal::is_same_v<T, float>)                                                  \
            return as_type<T>(metal::NAME(as_type<uint>(data), site));                             \
        else                                                                                       \
            return metal::NAME(data, site);                                                        \
    }
MSL_BUILTIN(simd_and)
MSL_BUILTIN(simd_or)
MSL_BUILTIN(simd_xor)
#undef MSL_BUILTIN

#define MSL_BUILTIN(NAME)                                                                          \
    template <class T> MSL_CONVERGENT inline T __metal_##NAME(T data, ushort n, MSL_SITE) {        \
        return metal::NAME(data, n, site);                                                         \
    }
MSL_BUILTIN(simd_broadcast)
MSL_BUILTIN(simd_shuffle)
MSL_BUILTIN(simd_shuffle_xor)
MSL_BUILTIN(simd_shuffle_up)
MSL_BUILTIN(simd_shuffle_down)
MSL_BUILTIN(simd_shuffle_rotate_up)
MSL_BUILTIN(simd_shuffle_rotate_down)
#undef MSL_BUILTIN

#define MSL_BUILTIN(NAME)                                                                          \
    template <class T>                                                                             \
    MSL_CONVERGENT inline T __metal_##NAME(T data, T filling, ushort delta, ushort modulo,         \
                                           MSL_SITE) {                                             \
        return metal::NAME(data, filling, delta, modulo, site);                                    \
    }
MSL_BUILTIN(simd_shuffle_and_fill_up)
MSL_BUILTIN(simd_shuffle_and_fill_down)
#undef MSL_BUILTIN

inline ushort __metal_get_thread_index_in_simdgroup(ushort) {
    return ushort(__msl::own_lane());
}
inline ushort __metal_get_simdgroup_size(ushort) {
    return MSL_LANES;
}

// What SIMD-group operations take; sources specialise it.
template <class T, class = void>
struct __is_valid_simdgroup_type
    : metal::bool_constant<(metal::is_arithmetic_v<T> && sizeof(T) <= 4) ||
                           metal::is_same_v<T, bfloat>> {};
template <class T, int N>
struct __is_valid_simdgroup_type<metal::vec<T, N>> : __is_valid_simdgroup_type<T> {};
