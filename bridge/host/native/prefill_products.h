// The two matrix products of prefill attention, out of panels of floats.
#pragma once
#include "prefill_workspace.h"
#include "vector.h"

namespace {

// What the registers hold: sums, a row of operands, and one more.
#if defined(__AVX512F__)
constexpr int SCORE_VECTORS = 2, SCORE_KEYS = 12;
constexpr int VALUE_ROWS = 4, VALUE_VECTORS = 4;
#elif defined(__ARM_NEON)
constexpr int SCORE_VECTORS = 4, SCORE_KEYS = 6;
constexpr int VALUE_ROWS = 4, VALUE_VECTORS = 4;
#else
constexpr int SCORE_VECTORS = 2, SCORE_KEYS = 6;
constexpr int VALUE_ROWS = 4, VALUE_VECTORS = 2;
#endif

// scores[key][lane] = Σ queries[dim][lane] · keys[key][dim], for so many vectors of lanes.
template <int VECTORS, int KEYS>
INLINE void score_keys(const float *queries, const float *keys, uint32_t head_dim, float *scores) {
    wide sum[KEYS][VECTORS];
    for (int key = 0; key < KEYS; key++)
        for (int n = 0; n < VECTORS; n++)
            sum[key][n] = Wide::broadcast(0);
    for (uint32_t dim = 0; dim < head_dim; dim++) {
        wide query[VECTORS];
        for (int n = 0; n < VECTORS; n++)
            query[n] = Wide::load(queries + n * Wide::LANES);
        for (int key = 0; key < KEYS; key++) {
            const wide factor = Wide::broadcast(keys[key * KEY_STRIDE]);
            for (int n = 0; n < VECTORS; n++)
                sum[key][n] = Wide::multiply_add(factor, query[n], sum[key][n]);
        }
        queries += PREFILL_BLOCK_LANES;
        keys++;
    }
    for (int key = 0; key < KEYS; key++)
        for (int n = 0; n < VECTORS; n++)
            Wide::store(scores + key * PREFILL_BLOCK_LANES + n * Wide::LANES, sum[key][n]);
}

template <int VECTORS>
void score_vectors(const float *queries, const float *keys, uint32_t head_dim, float *scores) {
    constexpr int REST = PREFILL_STEP_KEYS % SCORE_KEYS;
    uint32_t key = 0;
    for (; key + SCORE_KEYS <= PREFILL_STEP_KEYS; key += SCORE_KEYS)
        score_keys<VECTORS, SCORE_KEYS>(queries, keys + key * KEY_STRIDE, head_dim,
                                        scores + key * PREFILL_BLOCK_LANES);
    if constexpr (REST != 0)
        score_keys<VECTORS, REST>(queries, keys + key * KEY_STRIDE, head_dim,
                                  scores + key * PREFILL_BLOCK_LANES);
}

// Of the lanes from `first` to `last`, whole vectors.
void score(const float *queries, const float *keys, uint32_t head_dim, uint32_t first,
           uint32_t last, float *scores) {
    constexpr uint32_t LANES = SCORE_VECTORS * Wide::LANES;
    for (; first + LANES <= last; first += LANES)
        score_vectors<SCORE_VECTORS>(queries + first, keys, head_dim, scores + first);
    for (; first < last; first += Wide::LANES)
        score_vectors<1>(queries + first, keys, head_dim, scores + first);
}

// outputs[row][column] += Σ weights[key][row] · values[key][column], for VALUE_ROWS rows.
template <int VECTORS>
INLINE void add_rows(const float *weights, const float *values, float *outputs, size_t stride) {
    wide sum[VALUE_ROWS][VECTORS];
    for (int row = 0; row < VALUE_ROWS; row++)
        for (int n = 0; n < VECTORS; n++)
            sum[row][n] = Wide::load(outputs + row * stride + n * Wide::LANES);
    for (uint32_t key = 0; key < PREFILL_STEP_KEYS; key++) {
        wide value[VECTORS];
        for (int n = 0; n < VECTORS; n++)
            value[n] = Wide::load(values + n * Wide::LANES);
        for (int row = 0; row < VALUE_ROWS; row++) {
            const wide weight = Wide::broadcast(weights[row]);
            for (int n = 0; n < VECTORS; n++)
                sum[row][n] = Wide::multiply_add(weight, value[n], sum[row][n]);
        }
        values += VECTORS * Wide::LANES;
        weights += PREFILL_BLOCK_LANES;
    }
    for (int row = 0; row < VALUE_ROWS; row++)
        for (int n = 0; n < VECTORS; n++)
            Wide::store(outputs + row * stride + n * Wide::LANES, sum[row][n]);
}

// Panels of VECTORS vectors, then of half as many: `pack_values` lays them out.
template <int VECTORS>
void add_values(const float *weights, const float *values, uint32_t width, uint32_t first,
                uint32_t last, float *outputs, uint32_t column = 0) {
    constexpr uint32_t COLUMNS = VECTORS * Wide::LANES;
    for (; column + COLUMNS <= width; column += COLUMNS)
        for (uint32_t row = first; row < last; row += VALUE_ROWS)
            add_rows<VECTORS>(weights + row, values + size_t{column} * PREFILL_STEP_KEYS,
                              outputs + size_t{row} * width + column, width);
    if constexpr (VECTORS > 1)
        add_values<VECTORS / 2>(weights, values, width, first, last, outputs, column);
}

}  // namespace
