// Vectors of AVX-512 (x86-64-v4): 16 lanes.
#pragma once
#include <immintrin.h>

namespace {

constexpr int LANES = 16;
// What the registers hold beside the operands.
constexpr int SCORE_ACCUMULATORS = 16;
constexpr int VALUE_ACCUMULATORS = 16;

using vec = __m512;

inline vec load_half(const uint16_t *from) {
    return _mm512_cvtph_ps(_mm256_loadu_si256(reinterpret_cast<const __m256i *>(from)));
}

inline vec load_half(const uint16_t *from, int count) {
    const __mmask16 present = static_cast<__mmask16>((1u << count) - 1);
    return _mm512_cvtph_ps(_mm256_maskz_loadu_epi16(present, from));
}

inline vec multiply_add(vec a, vec b, vec c) {
    return _mm512_fmadd_ps(a, b, c);
}

inline vec larger(vec a, vec b) {
    return _mm512_max_ps(a, b);
}

inline vec nearest(vec x) {
    return _mm512_roundscale_ps(x, _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC);
}

inline vec times_power(vec x, vec power) {
    return _mm512_scalef_ps(x, power);
}

// Of the lanes that are 2 and then 1 apart.
inline vec fold_pairs(vec a, vec b) {
    return _mm512_add_ps(_mm512_mask_blend_ps(0xcccc, a, b), _mm512_shuffle_ps(a, b, 0x4e));
}

inline vec fold_neighbours(vec a, vec b) {
    return _mm512_add_ps(_mm512_shuffle_ps(a, b, 0x88), _mm512_shuffle_ps(a, b, 0xdd));
}

inline vec fold_halves(vec a, vec b) {
    return _mm512_add_ps(_mm512_mask_blend_ps(0xff00, a, b), _mm512_shuffle_f32x4(a, b, 0x4e));
}

inline vec fold_quarters(vec a, vec b) {
    return _mm512_add_ps(_mm512_shuffle_f32x4(a, b, 0x88), _mm512_shuffle_f32x4(a, b, 0xdd));
}

inline vec sums_in_quarters(const vec *x) {
    return fold_neighbours(fold_pairs(x[0], x[1]), fold_pairs(x[2], x[3]));
}

inline vec sums(const vec *x) {
    return fold_quarters(fold_halves(sums_in_quarters(x), sums_in_quarters(x + 4)),
                         fold_halves(sums_in_quarters(x + 8), sums_in_quarters(x + 12)));
}

}  // namespace
