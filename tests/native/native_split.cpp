// How decode problems are cut: every row of every kv head once, at bounds that threads do not move.
#include "decode_split.h"
#include "simt_support.h"

#include <vector>

namespace {

using native::DecodeProblem;
using native::DecodeSplit;

DecodeProblem problem_of(uint32_t n_kv_heads, uint32_t head_dim, uint32_t seq_len) {
    DecodeProblem problem = {};
    problem.n_heads = problem.n_kv_heads = n_kv_heads;
    problem.head_dim = head_dim;
    problem.seq_len = seq_len;
    return problem;
}

constexpr uint32_t THREADS[] = {1, 2, 3, 16, 200};

void pieces_cover_the_problem_once() {
    for (uint32_t n_kv_heads : {1u, 3u, 8u, 64u}) {
        for (uint32_t seq_len : {1u, 255u, 256u, 257u, 16384u, 16385u, 1000000u}) {
            for (uint32_t threads : THREADS) {
                const DecodeSplit split(problem_of(n_kv_heads, 128, seq_len), threads);
                uint64_t rows = 0, heads = 0;
                for (uint32_t chunk = 0; chunk < split.chunks; chunk++) {
                    CHECK(split.rows(chunk) > 0);
                    rows += split.rows(chunk);
                }
                for (uint32_t range = 0; range < split.ranges; range++) {
                    CHECK(split.first_kv_head(range) < split.first_kv_head(range + 1));
                    heads += split.first_kv_head(range + 1) - split.first_kv_head(range);
                }
                CHECK_EQUAL(rows, seq_len);
                CHECK_EQUAL(heads, n_kv_heads);
                CHECK_EQUAL(split.first_piece(0), 0);
                CHECK_EQUAL(split.first_piece(split.tasks()), split.chunks * split.ranges);
            }
        }
    }
}

void threads_do_not_move_the_bounds_of_chunks() {
    for (uint32_t seq_len : {100u, 5000u, 100000u}) {
        const DecodeSplit alone(problem_of(8, 128, seq_len), 1);
        for (uint32_t threads : THREADS) {
            const DecodeSplit split(problem_of(8, 128, seq_len), threads);
            CHECK_EQUAL(split.chunk_rows, alone.chunk_rows);
            CHECK_EQUAL(split.chunks, alone.chunks);
            CHECK_EQUAL(split.tile_rows, alone.tile_rows);
        }
    }
}

void one_head_has_work_for_every_thread() {
    for (uint32_t threads : {2u, 16u, 64u}) {
        CHECK(DecodeSplit(problem_of(1, 128, 100000), threads).tasks() >= 49);
        CHECK(DecodeSplit(problem_of(64, 128, 256), threads).tasks() >= threads);
    }
}

void small_problems_stay_on_one_thread() {
    CHECK_EQUAL(DecodeSplit(problem_of(1, 64, 16), 16).tasks(), 1);
    CHECK_EQUAL(DecodeSplit(problem_of(3, 64, 300), 16).tasks(), 1);
}

void results_stay_few() {
    for (uint32_t seq_len : {1u, 65536u, 1000000u, 0xffffffffu})
        CHECK(DecodeSplit(problem_of(8, 128, seq_len), 2).chunks <= 64);
}

}  // namespace

int main() {
    pieces_cover_the_problem_once();
    threads_do_not_move_the_bounds_of_chunks();
    one_head_has_work_for_every_thread();
    small_problems_stay_on_one_thread();
    results_stay_few();
}
