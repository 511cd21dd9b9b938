// What prefill attention computes with vectors: parts of a problem.
#pragma once
#include <cstddef>
#include <cstdint>

namespace native {

constexpr uint32_t PREFILL_STEP_KEYS = 64;  // cache rows of a step, and the width of a mask tile
// Query rows that go through the products side by side, as lanes of vectors.
constexpr uint32_t PREFILL_BLOCK_LANES = 32;
constexpr uint32_t PREFILL_MAX_HEAD_DIM = 512;

// What a launch of a prefill kernel asks for. Strides are in elements.
struct PrefillProblem {
    const float *queries;
    const uint16_t *keys, *values, *mask;  // f16
    const uint8_t *classes;                // of the mask's tiles, [tile of rows][step]
    float *out;                            // [row][head][head_dim]
    uint32_t rows, n_heads, n_kv_heads, head_dim;
    uint32_t tile_rows;  // query rows of a mask tile: as many as a block's lanes, or half of them
    uint32_t steps;
    size_t q_row_stride, q_head_stride, k_row_stride, k_head_stride, v_row_stride, v_head_stride;
    size_t mask_row_stride;
    float scale;  // of the queries
};

// How the query rows of a kv head's group of heads make blocks. Few rows leave lanes for more
// heads; all of their rows lie in one mask tile then.
struct PrefillBlocks {
    uint32_t group;        // query heads of a kv head
    uint32_t rows, heads;  // of a block; the last ones may have fewer
    uint32_t head_blocks;  // of the same rows: they follow one another
    uint32_t count;        // of a kv head
};

// Consecutive blocks of one kv head, for which its keys and values are converted once.
struct PrefillPart {
    const PrefillProblem *problem;
    const PrefillBlocks *blocks;
    uint32_t kv_head, first_block, last_block;
    float *workspace;  // as prefill_workspace.h lays it out, aligned for every vector
};

}  // namespace native
