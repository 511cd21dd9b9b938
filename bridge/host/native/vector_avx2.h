// Vectors of AVX2 with F16C and FMA (x86-64-v3): 8 lanes.
#pragma once
#include <immintrin.h>

namespace {

constexpr int LANES = 8;
// What the registers hold beside the operands.
constexpr int SCORE_ACCUMULATORS = 8;
constexpr int VALUE_ACCUMULATORS = 8;

using vec = __m256;

inline vec load_half(const uint16_t *from) {
    return _mm256_cvtph_ps(_mm_loadu_si128(reinterpret_cast<const __m128i *>(from)));
}

// Four, as heads are multiples of four wide.
inline vec load_half(const uint16_t *from, int) {
    return _mm256_cvtph_ps(_mm_loadl_epi64(reinterpret_cast<const __m128i *>(from)));
}

inline vec multiply_add(vec a, vec b, vec c) {
    return _mm256_fmadd_ps(a, b, c);
}

inline vec larger(vec a, vec b) {
    return _mm256_max_ps(a, b);
}

inline vec nearest(vec x) {
    return _mm256_round_ps(x, _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC);
}

// 2 to an integer from -126 to 127.
inline vec power_of_two(__m256i power) {
    return _mm256_castsi256_ps(
        _mm256_slli_epi32(_mm256_add_epi32(power, _mm256_set1_epi32(127)), 23));
}

// In two steps, of which only the second can leave the normal numbers.
inline vec times_power(vec x, vec power) {
    const __m256i whole = _mm256_cvtps_epi32(power), half = _mm256_srai_epi32(whole, 1);
    return x * power_of_two(half) * power_of_two(_mm256_sub_epi32(whole, half));
}

inline vec fold_pairs(vec a, vec b) {
    return _mm256_add_ps(_mm256_blend_ps(a, b, 0xcc), _mm256_shuffle_ps(a, b, 0x4e));
}

inline vec fold_neighbours(vec a, vec b) {
    return _mm256_add_ps(_mm256_shuffle_ps(a, b, 0x88), _mm256_shuffle_ps(a, b, 0xdd));
}

inline vec fold_halves(vec a, vec b) {
    return _mm256_add_ps(_mm256_blend_ps(a, b, 0xf0), _mm256_permute2f128_ps(a, b, 0x21));
}

inline vec sums_in_halves(const vec *x) {
    return fold_neighbours(fold_pairs(x[0], x[1]), fold_pairs(x[2], x[3]));
}

inline vec sums(const vec *x) {
    return fold_halves(sums_in_halves(x), sums_in_halves(x + 4));
}

}  // namespace
