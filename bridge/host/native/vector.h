// The vectors of the CPU level that the file is compiled for, and what all levels share. Nothing
// here may have a name that the linker could find in the code of another level.
#pragma once
#include <cstddef>
#include <cstdint>

#if defined(__AVX512F__)
#include "vector_avx512.h"
#elif defined(__AVX2__)
#include "vector_avx2.h"
#elif defined(__ARM_NEON)
#include "vector_neon.h"
#else
#include "vector_portable.h"
#endif

namespace {

inline vec load(const float *from) {
    vec x;
    __builtin_memcpy(&x, from, sizeof x);
    return x;
}

inline void store(float *to, vec x) {
    __builtin_memcpy(to, &x, sizeof x);
}

inline vec broadcast(float x) {
    return x - vec{};
}

// In the order of `sums`, which gives the sums of LANES vectors.
inline float add_lanes(vec x) {
    vec all[LANES] = {x};
    return sums(all)[0];
}

// The largest lane; a NaN may be passed over.
inline float largest(vec x) {
    float most = x[0];
    for (int i = 1; i < LANES; i++)
        most = x[i] > most ? x[i] : most;
    return most;
}

// 2^x for x <= 0, with a relative error below 2^-22; 1 for 0, 0 for -inf, NaN for NaN.
inline vec exp2_negative(vec x) {
    const vec least = broadcast(-160);  // 2^-160 rounds to 0
    const vec clamped = larger(least, x);
    const vec whole = nearest(clamped), rest = clamped - whole;
    vec sum = broadcast(0x1.5bba14p-10f);
    sum = multiply_add(sum, rest, broadcast(0x1.3cea88p-7f));
    sum = multiply_add(sum, rest, broadcast(0x1.c6b752p-5f));
    sum = multiply_add(sum, rest, broadcast(0x1.ebf9bcp-3f));
    sum = multiply_add(sum, rest, broadcast(0x1.62e42ap-1f));
    sum = multiply_add(sum, rest, broadcast(1));
    return times_power(sum, whole);
}

}  // namespace
