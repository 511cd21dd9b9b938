// Query rows of one head or of several, as lanes: all of a head, then all of the next.
#pragma once
#include "prefill_part.h"

namespace {

class Block {
  public:
    Block(const native::PrefillPart &part, uint32_t index)
        : problem_(*part.problem), row_block_(index / part.blocks->head_blocks),
          first_row_(row_block_ * part.blocks->rows),
          rows_(smaller(part.blocks->rows, problem_.rows - first_row_)) {
        const uint32_t head = index % part.blocks->head_blocks * part.blocks->heads;
        first_head_ = part.kv_head * part.blocks->group + head;
        lanes_ = rows_ * smaller(part.blocks->heads, part.blocks->group - head);
    }

    uint32_t row_block() const { return row_block_; }
    uint32_t lanes() const { return lanes_; }

    // Null where there is no such lane.
    const float *query(uint32_t lane) const {
        if (lane >= lanes_) return nullptr;
        return problem_.queries + row(lane) * problem_.q_row_stride +
               head(lane) * problem_.q_head_stride;
    }
    // Likewise.
    const uint16_t *mask(uint32_t lane, uint32_t step) const {
        if (lane >= lanes_) return nullptr;
        return problem_.mask + row(lane) * problem_.mask_row_stride +
               size_t{step} * native::PREFILL_STEP_KEYS;
    }
    float *out(uint32_t lane) const {
        return problem_.out + (row(lane) * problem_.n_heads + head(lane)) * problem_.head_dim;
    }
    uint8_t tile_class(uint32_t lane, uint32_t step) const {
        return problem_.classes[row(lane) / problem_.tile_rows * problem_.steps + step];
    }

  private:
    static uint32_t smaller(uint32_t a, uint32_t b) { return a < b ? a : b; }

    size_t row(uint32_t lane) const { return first_row_ + lane % rows_; }
    size_t head(uint32_t lane) const { return first_head_ + lane / rows_; }

    const native::PrefillProblem &problem_;
    uint32_t row_block_, first_row_, rows_, first_head_, lanes_;
};

}  // namespace
