// What decode attention computes with vectors: parts of a problem, and their merge.
#pragma once
#include <cstddef>
#include <cstdint>

namespace native {

// Consecutive cache rows of consecutive kv heads: what one thread does at a time. The query heads
// of a kv head follow one another; [i] counts them from the first.
struct DecodePart {
    const float *queries;    // [i][padded_dim], zeros behind head_dim
    const uint16_t *keys;    // f16, the first row's of the first kv head
    const uint16_t *values;  // likewise
    size_t row_stride;       // elements from a cache row to the next
    uint32_t rows;           // at least 1
    uint32_t tile_rows;      // that are scored at a time, at most DECODE_MOST_TILE_ROWS
    uint32_t rows_after;     // that follow in the cache: worth fetching
    uint32_t kv_heads;
    uint32_t group;     // query heads of a kv head
    uint32_t head_dim;  // a multiple of 4, at most DECODE_MAX_HEAD_DIM
    float scale;        // of the scores, in powers of two: log2(e) included
    float *peaks;       // out [i]: the largest score
    float *sums;        // out [i]: Σ 2^(score - peak)
    float *outputs;     // out [i][padded_dim]: Σ 2^(score - peak) · value
};

// The results of several parts of the same heads, in the order of their rows.
struct DecodeMerge {
    const float *peaks;     // [part][head]
    const float *sums;      // [part][head]
    const float *outputs;   // [part][head][padded_dim]
    uint32_t parts, heads;  // of all, the strides
    uint32_t first, last;   // the heads to merge
    uint32_t head_dim;
    float *out;  // [head][head_dim]
};

constexpr uint32_t DECODE_MAX_HEAD_DIM = 128;
constexpr uint32_t DECODE_MOST_TILE_ROWS = 256;
// Of every level's vectors, in floats.
constexpr uint32_t WIDEST_VECTOR = 16;

constexpr uint32_t padded(uint32_t head_dim) {
    return (head_dim + WIDEST_VECTOR - 1) / WIDEST_VECTOR * WIDEST_VECTOR;
}

}  // namespace native
