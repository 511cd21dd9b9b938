// How a prefill problem is cut: into blocks, whose bounds depend on the problem alone so that
// results do, and parts of blocks for the threads.
#pragma once
#include "prefill_part.h"

#include <algorithm>

namespace native {

struct PrefillSplit {
    PrefillSplit(const PrefillProblem &problem, uint32_t threads);

    PrefillBlocks blocks;
    uint32_t n_kv_heads;
    uint32_t part_blocks;  // of a part; a kv head's last may have fewer
    uint32_t parts;        // of a kv head
    bool together;         // all parts in one task: too little work for others to come

    uint32_t tasks() const { return together ? 1 : parts * n_kv_heads; }
    uint32_t first_part(uint32_t task) const { return together ? task * parts * n_kv_heads : task; }
    // From the last rows to the first: under a causal mask later rows take longer, and the longest
    // parts begin first.
    uint32_t first_block(uint32_t part) const {
        return (parts - 1 - part / n_kv_heads) * part_blocks;
    }
    uint32_t last_block(uint32_t part) const {
        return std::min(first_block(part) + part_blocks, blocks.count);
    }
    uint32_t kv_head(uint32_t part) const { return part % n_kv_heads; }
};

}  // namespace native
