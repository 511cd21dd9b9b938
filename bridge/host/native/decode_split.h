// How a decode problem is cut into pieces for threads: chunks of rows, whose bounds depend on the
// problem alone so that results do, and within them ranges of kv heads.
#pragma once
#include "decode_problem.h"

#include <algorithm>

namespace native {

struct DecodeSplit {
    DecodeSplit(const DecodeProblem &problem, uint32_t threads);

    uint32_t seq_len, n_kv_heads;
    uint32_t chunk_rows, chunks;
    uint32_t tile_rows;  // of a chunk that are scored at a time
    uint32_t ranges;
    bool together;  // all pieces in one task: too few for others to come

    uint32_t rows(uint32_t chunk) const {
        return std::min(chunk_rows, seq_len - chunk * chunk_rows);
    }
    uint32_t first_kv_head(uint32_t range) const {
        return static_cast<uint32_t>(uint64_t{range} * n_kv_heads / ranges);
    }
    uint32_t tasks() const { return together ? 1 : chunks * ranges; }
    uint32_t first_piece(uint32_t task) const { return together ? task * chunks * ranges : task; }
};

}  // namespace native
