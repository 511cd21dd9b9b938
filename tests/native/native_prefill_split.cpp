// How prefill problems are cut: every row of every head once, at bounds that threads do not move.
#include "prefill_split.h"
#include "simt_support.h"

#include <vector>

namespace {

using native::PrefillProblem;
using native::PrefillSplit;

constexpr uint32_t THREADS[] = {1, 2, 3, 16, 200};

PrefillProblem problem_of(uint32_t rows, uint32_t n_heads, uint32_t n_kv_heads, uint32_t head_dim) {
    PrefillProblem problem = {};
    problem.rows = rows;
    problem.n_heads = n_heads;
    problem.n_kv_heads = n_kv_heads;
    problem.head_dim = head_dim;
    problem.tile_rows = head_dim > 256 ? 16 : 32;
    problem.steps = 20;
    return problem;
}

template <class Function> void for_problems(Function function) {
    for (uint32_t rows : {1u, 2u, 15u, 16u, 17u, 31u, 32u, 33u, 128u, 1000u})
        for (uint32_t group : {1u, 2u, 7u, 40u})
            for (uint32_t head_dim : {64u, 256u, 512u})
                for (uint32_t threads : THREADS)
                    function(problem_of(rows, 3 * group, 3, head_dim), threads);
}

void parts_cover_the_blocks_once() {
    for_problems([](const PrefillProblem &problem, uint32_t threads) {
        const PrefillSplit split(problem, threads);
        std::vector<int> seen(size_t{split.blocks.count} * problem.n_kv_heads);
        const uint32_t parts = split.first_part(split.tasks());
        for (uint32_t part = split.first_part(0); part < parts; part++) {
            CHECK(split.first_block(part) < split.last_block(part));
            CHECK(split.last_block(part) - split.first_block(part) <= split.part_blocks);
            for (uint32_t i = split.first_block(part); i < split.last_block(part); i++)
                seen[split.kv_head(part) * split.blocks.count + i]++;
        }
        for (int times : seen)
            CHECK_EQUAL(times, 1);
    });
}

void blocks_fill_lanes_and_hold_every_row() {
    for_problems([](const PrefillProblem &problem, uint32_t threads) {
        const native::PrefillBlocks blocks = PrefillSplit(problem, threads).blocks;
        CHECK(blocks.rows * blocks.heads <= native::PREFILL_BLOCK_LANES);
        CHECK(blocks.heads == 1 || blocks.rows <= problem.tile_rows);
        CHECK(blocks.head_blocks * blocks.heads >= blocks.group);
        CHECK(blocks.count / blocks.head_blocks * blocks.rows >= problem.rows);
        // One lane more would not do for another head.
        CHECK(blocks.heads == blocks.group ||
              (blocks.heads + 1) * blocks.rows > native::PREFILL_BLOCK_LANES);
    });
}

void threads_move_no_block() {
    for_problems([](const PrefillProblem &problem, uint32_t threads) {
        const native::PrefillBlocks one = PrefillSplit(problem, 1).blocks;
        const native::PrefillBlocks many = PrefillSplit(problem, threads).blocks;
        CHECK(one.rows == many.rows && one.heads == many.heads && one.count == many.count);
    });
}

void one_head_of_many_rows_has_work_for_every_thread() {
    const PrefillSplit split(problem_of(1024, 1, 1, 256), 8);
    CHECK(split.tasks() >= 16);
}

void little_work_stays_together() {
    CHECK_EQUAL(PrefillSplit(problem_of(1, 3, 3, 64), 8).tasks(), 1);
    CHECK_EQUAL(PrefillSplit(problem_of(1000, 3, 3, 256), 1).tasks(), 1);
}

}  // namespace

int main() {
    parts_cover_the_blocks_once();
    blocks_fill_lanes_and_hold_every_row();
    threads_move_no_block();
    one_head_of_many_rows_has_work_for_every_thread();
    little_work_stays_together();
}
