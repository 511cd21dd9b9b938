// Vectors of NEON (armv8-a): 4 lanes.
#pragma once
#include <arm_neon.h>

namespace {

constexpr int LANES = 4;
// What the registers hold beside the operands.
constexpr int SCORE_ACCUMULATORS = 16;
constexpr int VALUE_ACCUMULATORS = 16;

using vec = float32x4_t;

inline vec load_half(const uint16_t *from) {
    return vcvt_f32_f16(vreinterpret_f16_u16(vld1_u16(from)));
}

// A head is a multiple of four wide: there is no rest.
inline vec load_half(const uint16_t *from, int) {
    return load_half(from);
}

inline vec multiply_add(vec a, vec b, vec c) {
    return vfmaq_f32(c, a, b);
}

inline vec larger(vec a, vec b) {
    return vbslq_f32(vcgtq_f32(a, b), a, b);
}

inline vec nearest(vec x) {
    return vrndnq_f32(x);
}

inline vec power_of_two(int32x4_t power) {
    return vreinterpretq_f32_s32(vshlq_n_s32(vaddq_s32(power, vdupq_n_s32(127)), 23));
}

// In two steps, of which only the second can leave the normal numbers.
inline vec times_power(vec x, vec power) {
    const int32x4_t whole = vcvtq_s32_f32(power), half = vshrq_n_s32(whole, 1);
    return x * power_of_two(half) * power_of_two(vsubq_s32(whole, half));
}

inline vec sums(const vec *x) {
    return vpaddq_f32(vpaddq_f32(x[0], x[1]), vpaddq_f32(x[2], x[3]));
}

}  // namespace
