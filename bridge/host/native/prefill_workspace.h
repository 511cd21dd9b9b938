// Where a part of prefill attention keeps what it computes with, in floats. The class is each
// file's own, as code of different CPU levels must not share names.
#pragma once
#include "prefill_part.h"

namespace {

using native::PREFILL_BLOCK_LANES;
using native::PREFILL_STEP_KEYS;

// A constant, so that the products' addresses are displacements; rows of keys start in different
// sets of the first-level cache.
constexpr uint32_t KEY_STRIDE = native::PREFILL_MAX_HEAD_DIM + 16;
constexpr uint32_t TILE = PREFILL_STEP_KEYS * PREFILL_BLOCK_LANES;
// Of every level's vectors, in floats.
constexpr uint32_t WIDEST = 16;

class Workspace {
  public:
    Workspace(uint32_t head_dim, float *memory)
        : head_dim_(head_dim), width_((head_dim + WIDEST - 1) / WIDEST * WIDEST), memory_(memory) {}

    // Floats of a row of values or outputs: of whole vectors.
    uint32_t width() const { return width_; }
    size_t floats(uint32_t blocks) const { return BLOCKS_AT + values_floats() + blocks * stride(); }

    float *keys() const { return memory_; }                // [key][KEY_STRIDE]
    float *mask() const { return memory_ + MASK_AT; }      // [key][lane]
    float *scores() const { return memory_ + SCORES_AT; }  // [key][lane], then the weights
    float *values() const { return memory_ + BLOCKS_AT; }  // panels of columns, each [key][column]
    // Of each block.
    float *peaks(uint32_t i) const { return values() + values_floats() + i * stride(); }  // [lane]
    float *sums(uint32_t i) const { return peaks(i) + PREFILL_BLOCK_LANES; }              // [lane]
    float *queries(uint32_t i) const { return sums(i) + PREFILL_BLOCK_LANES; }  // [dim][lane]
    float *outputs(uint32_t i) const {                                          // [lane][width]
        return queries(i) + size_t{head_dim_} * PREFILL_BLOCK_LANES;
    }

  private:
    static constexpr size_t MASK_AT = size_t{PREFILL_STEP_KEYS} * KEY_STRIDE;
    static constexpr size_t SCORES_AT = MASK_AT + TILE;
    static constexpr size_t BLOCKS_AT = SCORES_AT + TILE;

    size_t values_floats() const { return size_t{PREFILL_STEP_KEYS} * width_; }
    size_t stride() const { return size_t{PREFILL_BLOCK_LANES} * (2 + head_dim_ + width_); }

    uint32_t head_dim_, width_;
    float *memory_;
};

}  // namespace
