// Vectors of 16 lanes: AVX-512 (x86-64-v4).
#pragma once
#include <immintrin.h>

namespace {

struct Vector16 {
    using type = __m512;
    static constexpr int LANES = 16;

    static type load(const float *from) { return _mm512_loadu_ps(from); }
    static void store(float *to, type x) { _mm512_storeu_ps(to, x); }
    static type broadcast(float x) { return _mm512_set1_ps(x); }

    static type load_half(const uint16_t *from) {
        return _mm512_cvtph_ps(_mm256_loadu_si256(reinterpret_cast<const __m256i *>(from)));
    }
    // The first `count`; zeros behind.
    static type load_half(const uint16_t *from, int count) {
        const __mmask16 present = static_cast<__mmask16>((1u << count) - 1);
        return _mm512_cvtph_ps(_mm256_maskz_loadu_epi16(present, from));
    }

    static type rounded_to_half(type x) {
        return _mm512_cvtph_ps(_mm512_cvtps_ph(x, _MM_FROUND_TO_NEAREST_INT));
    }
    // The lanes of a and b in turns: of their first halves, and of their second.
    static type interleave_first(type a, type b) {
        return __builtin_shufflevector(a, b, 0, 16, 1, 17, 2, 18, 3, 19, 4, 20, 5, 21, 6, 22, 7,
                                       23);
    }
    static type interleave_second(type a, type b) {
        return __builtin_shufflevector(a, b, 8, 24, 9, 25, 10, 26, 11, 27, 12, 28, 13, 29, 14, 30,
                                       15, 31);
    }

    static type multiply_add(type a, type b, type c) { return _mm512_fmadd_ps(a, b, c); }
    static type larger(type a, type b) { return _mm512_max_ps(a, b); }
    static type nearest(type x) {
        return _mm512_roundscale_ps(x, _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC);
    }
    static type times_power(type x, type power) { return _mm512_scalef_ps(x, power); }
};

}  // namespace
