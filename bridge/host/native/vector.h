// The vectors of the CPU level that the file is compiled for, and what all levels share. Nothing
// here may have a name that the linker could find in the code of another level.
#pragma once
#include <cstddef>
#include <cstdint>

#if defined(__AVX512F__)
#include "vector_avx2.h"
#include "vector_avx512.h"
#elif defined(__AVX2__)
#include "vector_avx2.h"
#elif defined(__ARM_NEON)
#include "vector_neon.h"
#else
#include "vector_portable.h"
#endif

#define INLINE inline __attribute__((always_inline))

namespace {

// Wide vectors for what goes lane by lane. Sums over lanes take narrow ones: as many products a
// cycle, and half as much to add up in the end. Accumulators: what the registers hold beside
// operands.
#if defined(__AVX512F__)
using Wide = Vector16;
using Narrow = Vector8;
constexpr int ACCUMULATORS = 16;
#elif defined(__AVX2__)
using Wide = Vector8;
using Narrow = Vector8;
constexpr int ACCUMULATORS = 8;
#elif defined(__ARM_NEON)
using Wide = Vector4;
using Narrow = Vector4;
constexpr int ACCUMULATORS = 16;
#else
using Wide = Vector4;
using Narrow = Vector4;
constexpr int ACCUMULATORS = 8;
#endif

using wide = Wide::type;
using narrow = Narrow::type;

inline float sum(wide x) {
    float lanes[Wide::LANES];
    Wide::store(lanes, x);
    for (int half = Wide::LANES / 2; half > 0; half /= 2)
        for (int i = 0; i < half; i++)
            lanes[i] += lanes[i + half];
    return lanes[0];
}

// 2^x for x up to 100, with a relative error below 2^-22; 1 for 0, 0 for -inf, NaN for NaN.
inline wide exp2_bounded(wide x) {
    const wide least = Wide::broadcast(-160);  // 2^-160 rounds to 0
    const wide clamped = Wide::larger(least, x);
    const wide whole = Wide::nearest(clamped), rest = clamped - whole;
    wide sum = Wide::broadcast(0x1.5bba14p-10f);
    sum = Wide::multiply_add(sum, rest, Wide::broadcast(0x1.3cea88p-7f));
    sum = Wide::multiply_add(sum, rest, Wide::broadcast(0x1.c6b752p-5f));
    sum = Wide::multiply_add(sum, rest, Wide::broadcast(0x1.ebf9bcp-3f));
    sum = Wide::multiply_add(sum, rest, Wide::broadcast(0x1.62e42ap-1f));
    sum = Wide::multiply_add(sum, rest, Wide::broadcast(1));
    return Wide::times_power(sum, whole);
}

}  // namespace
