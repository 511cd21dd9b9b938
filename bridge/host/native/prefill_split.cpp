#include "prefill_split.h"
#include "arithmetic.h"

namespace native {
namespace {

// Waking a thread takes as long as one takes for so many multiplications and additions.
constexpr double OPERATIONS_ALONE = 4e6;
// So that a thread that comes late, or has rows that see more, leaves little to wait for.
constexpr uint32_t PARTS_PER_THREAD = 4;
// For more blocks, converting keys and values no longer counts, but memory does.
constexpr uint64_t MOST_BLOCKS = 32;

PrefillBlocks blocks_of(const PrefillProblem &problem) {
    PrefillBlocks blocks = {};
    blocks.group = problem.n_heads / problem.n_kv_heads;
    blocks.rows = std::min(problem.rows, PREFILL_BLOCK_LANES);
    blocks.heads = std::min(blocks.group, PREFILL_BLOCK_LANES / blocks.rows);
    blocks.head_blocks = divide_up(blocks.group, blocks.heads);
    blocks.count = divide_up(problem.rows, blocks.rows) * blocks.head_blocks;
    return blocks;
}

}  // namespace

PrefillSplit::PrefillSplit(const PrefillProblem &problem, uint32_t threads)
    : blocks(blocks_of(problem)), n_kv_heads(problem.n_kv_heads) {
    const double operations =
        4.0 * problem.rows * problem.n_heads * problem.head_dim * problem.steps * PREFILL_STEP_KEYS;
    together = threads == 1 || operations < OPERATIONS_ALONE;
    uint64_t wanted = MOST_BLOCKS;
    if (!together) {
        const uint64_t all = uint64_t{blocks.count} * n_kv_heads;
        wanted = std::clamp<uint64_t>(all / (uint64_t{threads} * PARTS_PER_THREAD), 1, wanted);
    }
    parts = divide_up(blocks.count, static_cast<uint32_t>(wanted));
    part_blocks = divide_up(blocks.count, parts);
}

}  // namespace native
