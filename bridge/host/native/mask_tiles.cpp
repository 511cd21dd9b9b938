#include "mask_tiles.h"
#include "arithmetic.h"
#include "levels.h"

#include <algorithm>
#include <cstring>

namespace native {
namespace {

constexpr uint32_t THREADS = 32;  // per threadgroup, one threadgroup per tile

// The first cell that is at most -1e30, by its bits, and -inf.
constexpr uint16_t FIRST_HIDDEN_HALF = 0xfc00, LAST_HIDDEN_HALF = 0xfc00;
constexpr uint16_t FIRST_HIDDEN_BFLOAT = 0xf14a, LAST_HIDDEN_BFLOAT = 0xff80;

// Waking a thread takes as long as one takes to read this much of a mask.
constexpr uint64_t BYTES_ALONE = 512 * 1024;
// What a processor of today takes; only the order of magnitude matters.
constexpr uint64_t LAUNCH_NANOSECONDS = 500;
constexpr uint64_t BYTES_PER_NANOSECOND = 10;

enum Binding { MASK, CLASSES, PARAMS };

// As the host packs them.
struct Params {
    int32_t seq_len_q, seq_len_k;
    int32_t mask_row_stride;  // elements
    int32_t reserved;
};
static_assert(sizeof(Params) == 16, "four words");

struct Problem {
    const uint16_t *mask;
    uint8_t *classes;
    uint32_t rows, keys, tile_rows;
    size_t row_stride;

    uint32_t across() const { return divide_up(keys, MASK_TILE_KEYS); }
    uint32_t down() const { return divide_up(rows, tile_rows); }
    uint64_t bytes() const { return uint64_t{rows} * keys * sizeof(uint16_t); }
};

bool is_grid(const simt_launch &launch, const Problem &problem) {
    const uint32_t *threads = launch.threads, *size = launch.threads_per_threadgroup;
    return threads[0] == uint64_t{problem.across()} * THREADS && threads[1] == problem.down() &&
           threads[2] == 1 && size[0] == THREADS && size[1] == 1 && size[2] == 1;
}

bool is_everything_there(const simt_launch &launch, const Problem &problem) {
    const uint64_t whole_keys = problem.keys / MASK_TILE_KEYS * MASK_TILE_KEYS;
    const uint64_t cells = (problem.rows - 1) * uint64_t{problem.row_stride} + whole_keys;
    return cells <= launch.buffer_lengths[MASK] / sizeof(uint16_t) &&
           uint64_t{problem.across()} * problem.down() <= launch.buffer_lengths[CLASSES];
}

// False: not as the contract says. Whoever runs the kernel itself shows what happens.
bool read_problem(const simt_launch &launch, uint32_t tile_rows, Problem &out) {
    Params params;
    if (launch.buffer_lengths[PARAMS] < sizeof params) return false;
    std::memcpy(&params, launch.buffers[PARAMS], sizeof params);
    if (params.seq_len_q <= 0 || params.seq_len_k <= 0 || params.mask_row_stride < 0) return false;
    out.mask = static_cast<const uint16_t *>(launch.buffers[MASK]);
    out.classes = static_cast<uint8_t *>(launch.buffers[CLASSES]);
    out.rows = static_cast<uint32_t>(params.seq_len_q);
    out.keys = static_cast<uint32_t>(params.seq_len_k);
    out.tile_rows = tile_rows;
    out.row_stride = static_cast<size_t>(params.mask_row_stride);
    return is_grid(launch, out) && is_everything_there(launch, out);
}

// One launch in progress.
struct Classification {
    const Problem &problem;
    uint16_t first_hidden, last_hidden;
    uint32_t rows_per_task;  // of tiles

    static void run_task(void *classification, uint32_t task) {
        const auto &self = *static_cast<const Classification *>(classification);
        const uint32_t first = task * self.rows_per_task;
        const uint32_t end = std::min(first + self.rows_per_task, self.problem.down());
        for (uint32_t tile_row = first; tile_row < end; tile_row++)
            self.classify(tile_row);
    }

    void classify(uint32_t tile_row) const {
        const uint32_t row = tile_row * problem.tile_rows;
        MaskTilesPart part = {};
        part.cells = problem.mask + row * problem.row_stride;
        part.row_stride = problem.row_stride;
        part.rows = std::min(problem.tile_rows, problem.rows - row);
        part.whole = problem.keys / MASK_TILE_KEYS;
        part.tiles = problem.across();
        part.first_hidden = first_hidden;
        part.last_hidden = last_hidden;
        part.classes = problem.classes + size_t{tile_row} * problem.across();
        levels().front()->classify_tiles(part);
    }
};

bool run(simt_pool *pool, const simt_launch &launch, uint32_t tile_rows, uint16_t first_hidden,
         uint16_t last_hidden) {
    Problem problem;
    if (!read_problem(launch, tile_rows, problem)) return false;
    const bool together = problem.bytes() < BYTES_ALONE;
    Classification classification = {problem, first_hidden, last_hidden,
                                     together ? problem.down() : 1};
    return simt_pool_for(pool, divide_up(problem.down(), classification.rows_per_task),
                         Classification::run_task, &classification);
}

}  // namespace

bool mask_tiles_half(simt_pool *pool, const simt_launch &launch, uint32_t tile_rows) {
    return run(pool, launch, tile_rows, FIRST_HIDDEN_HALF, LAST_HIDDEN_HALF);
}

bool mask_tiles_bfloat(simt_pool *pool, const simt_launch &launch, uint32_t tile_rows) {
    return run(pool, launch, tile_rows, FIRST_HIDDEN_BFLOAT, LAST_HIDDEN_BFLOAT);
}

uint64_t mask_tiles_estimate(const simt_launch &launch, uint32_t tile_rows) {
    Problem problem;
    if (!read_problem(launch, tile_rows, problem)) return UINT64_MAX;
    return LAUNCH_NANOSECONDS + problem.bytes() / BYTES_PER_NANOSECOND;
}

}  // namespace native
