// Vectors of 4 lanes: NEON (armv8-a).
#pragma once
#include <arm_neon.h>

namespace {

struct Vector4 {
    using type = float32x4_t;
    static constexpr int LANES = 4;

    static type load(const float *from) { return vld1q_f32(from); }
    static void store(float *to, type x) { vst1q_f32(to, x); }
    static type broadcast(float x) { return vdupq_n_f32(x); }

    static type load_half(const uint16_t *from) {
        return vcvt_f32_f16(vreinterpret_f16_u16(vld1_u16(from)));
    }
    // Never needed: a head is a multiple of four wide.
    static type load_half(const uint16_t *from, int) { return load_half(from); }

    static type rounded_to_half(type x) { return vcvt_f32_f16(vcvt_f16_f32(x)); }
    // The lanes of a and b in turns: of their first halves, and of their second.
    static type interleave_first(type a, type b) { return vzip1q_f32(a, b); }
    static type interleave_second(type a, type b) { return vzip2q_f32(a, b); }

    static type multiply_add(type a, type b, type c) { return vfmaq_f32(c, a, b); }
    static type larger(type a, type b) { return vbslq_f32(vcgtq_f32(a, b), a, b); }
    static type nearest(type x) { return vrndnq_f32(x); }
    // x · 2^power, in two steps of which only the second can leave the normal numbers.
    static type times_power(type x, type power) {
        const int32x4_t whole = vcvtq_s32_f32(power), half = vshrq_n_s32(whole, 1);
        return x * power_of_two(half) * power_of_two(vsubq_s32(whole, half));
    }

    // Adds up neighbouring lanes within a and within b, and puts b's results behind a's.
    template <int> static type fold(type a, type b) { return vpaddq_f32(a, b); }

  private:
    // For powers from -126 to 127.
    static type power_of_two(int32x4_t power) {
        return vreinterpretq_f32_s32(vshlq_n_s32(vaddq_s32(power, vdupq_n_s32(127)), 23));
    }
};

}  // namespace
