// Vectors of 8 lanes: AVX2 with F16C and FMA (x86-64-v3).
#pragma once
#include <immintrin.h>

namespace {

struct Vector8 {
    using type = __m256;
    static constexpr int LANES = 8;

    static type load(const float *from) { return _mm256_loadu_ps(from); }
    static void store(float *to, type x) { _mm256_storeu_ps(to, x); }
    static type broadcast(float x) { return _mm256_set1_ps(x); }

    static type load_half(const uint16_t *from) {
        return _mm256_cvtph_ps(_mm_loadu_si128(reinterpret_cast<const __m128i *>(from)));
    }
    // The first four, as heads are a multiple of four wide; zeros behind.
    static type load_half(const uint16_t *from, int) {
        return _mm256_cvtph_ps(_mm_loadl_epi64(reinterpret_cast<const __m128i *>(from)));
    }

    static type rounded_to_half(type x) {
        return _mm256_cvtph_ps(_mm256_cvtps_ph(x, _MM_FROUND_TO_NEAREST_INT));
    }
    // The lanes of a and b in turns: of their first halves, and of their second.
    static type interleave_first(type a, type b) {
        return __builtin_shufflevector(a, b, 0, 8, 1, 9, 2, 10, 3, 11);
    }
    static type interleave_second(type a, type b) {
        return __builtin_shufflevector(a, b, 4, 12, 5, 13, 6, 14, 7, 15);
    }

    static type multiply_add(type a, type b, type c) { return _mm256_fmadd_ps(a, b, c); }
    static type larger(type a, type b) { return _mm256_max_ps(a, b); }
    static type nearest(type x) {
        return _mm256_round_ps(x, _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC);
    }
    // x · 2^power, in two steps of which only the second can leave the normal numbers.
    static type times_power(type x, type power) {
        const __m256i whole = _mm256_cvtps_epi32(power), half = _mm256_srai_epi32(whole, 1);
        return x * power_of_two(half) * power_of_two(_mm256_sub_epi32(whole, half));
    }

    // Each adds up lanes within a and within b, and puts b's results behind a's: those 2 apart,
    // then neighbours, then the halves.
    template <int LEVEL> static type fold(type a, type b) {
        if constexpr (LEVEL == 0) {
            return _mm256_shuffle_ps(a, b, 0x44) + _mm256_shuffle_ps(a, b, 0xee);
        } else if constexpr (LEVEL == 1) {
            return _mm256_shuffle_ps(a, b, 0x88) + _mm256_shuffle_ps(a, b, 0xdd);
        } else {
            return _mm256_permute2f128_ps(a, b, 0x20) + _mm256_permute2f128_ps(a, b, 0x31);
        }
    }

  private:
    // For powers from -126 to 127.
    static type power_of_two(__m256i power) {
        const __m256i biased = _mm256_add_epi32(power, _mm256_set1_epi32(127));
        return _mm256_castsi256_ps(_mm256_slli_epi32(biased, 23));
    }
};

}  // namespace
