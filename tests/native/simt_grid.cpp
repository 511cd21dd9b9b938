// Every thread of a grid runs once and knows its place, whatever the shape.
#include "launch.h"
#include "simt_support.h"

#include <algorithm>
#include <vector>

namespace {

struct Seen {
    uint32_t runs;
    msl_thread thread;
};

struct Shape {
    uint32_t threads[3], threadgroup[3];
};

constexpr Shape SHAPES[] = {
    {{1, 1, 1}, {1, 1, 1}},      {{256, 1, 1}, {256, 1, 1}}, {{1024, 1, 1}, {1024, 1, 1}},
    {{1000, 1, 1}, {256, 1, 1}}, {{33, 1, 1}, {32, 1, 1}},   {{7, 1, 1}, {256, 1, 1}},
    {{100, 3, 1}, {100, 1, 1}},  {{17, 9, 5}, {4, 4, 4}},    {{8, 8, 16}, {8, 8, 16}},
    {{5, 1030, 2}, {2, 500, 1}}, {{1, 1, 70}, {1, 1, 64}},   {{64, 64, 1}, {31, 33, 1}},
};

void record(const msl_thread *thread) {
    const uint32_t *at = thread->thread_in_grid, *grid = thread->threads_per_grid;
    Seen &seen = buffer<Seen>(thread, 0)[(size_t{at[2]} * grid[1] + at[1]) * grid[0] + at[0]];
    seen.runs++;
    seen.thread = *thread;
    if (thread->threadgroup_in_grid[0] % 2 == 0) simt_runtime.barrier(site(1));
}

// What Metal promises of one dimension.
void check_dimension(const msl_thread &thread, const Shape &shape, int k, uint32_t at) {
    const uint32_t size = shape.threadgroup[k], whole = shape.threads[k];
    CHECK_EQUAL(thread.thread_in_grid[k], at);
    CHECK_EQUAL(thread.threadgroup_in_grid[k], at / size);
    CHECK_EQUAL(thread.thread_in_threadgroup[k], at % size);
    CHECK_EQUAL(thread.threads_per_threadgroup[k], std::min(size, whole - at / size * size));
    CHECK_EQUAL(thread.dispatch_threads_per_threadgroup[k], size);
    CHECK_EQUAL(thread.threadgroups_per_grid[k], (whole + size - 1) / size);
    CHECK_EQUAL(thread.threads_per_grid[k], whole);
}

void check_index(const msl_thread &thread) {
    const uint32_t *at = thread.thread_in_threadgroup, *size = thread.threads_per_threadgroup;
    CHECK_EQUAL(thread.index, (at[2] * size[1] + at[1]) * size[0] + at[0]);
    CHECK_EQUAL(thread.lane, thread.index % 32);
    CHECK_EQUAL(thread.simdgroup, thread.index / 32);
    CHECK_EQUAL(thread.simdgroups, (size[0] * size[1] * size[2] + 31) / 32);
}

void check_shape(TestPool &pool, const Shape &shape, simt_order order) {
    const uint32_t *grid = shape.threads, *group = shape.threadgroup;
    std::vector<Seen> seen(size_t{grid[0]} * grid[1] * grid[2]);
    Launch launch(record, 1, 1, {seen.data()});
    launch.set(grid[0], grid[1], grid[2], group[0], group[1], group[2]);
    launch.order = order;
    launch.seed = 5;
    pool.run(launch);
    const Seen *next = seen.data();
    for (uint32_t z = 0; z < grid[2]; z++) {
        for (uint32_t y = 0; y < grid[1]; y++) {
            for (uint32_t x = 0; x < grid[0]; x++, next++) {
                CHECK_EQUAL(next->runs, 1);
                check_dimension(next->thread, shape, 0, x);
                check_dimension(next->thread, shape, 1, y);
                check_dimension(next->thread, shape, 2, z);
                check_index(next->thread);
            }
        }
    }
}

void an_empty_grid_runs_nothing(TestPool &pool) {
    Seen seen = {};
    Launch launch(record, 0, 32, {&seen});
    pool.run(launch);
    CHECK_EQUAL(seen.runs, 0);
}

void huge_grids_do_not_wrap_around() {
    Launch launch(record, 1, 1, {});
    constexpr uint32_t MOST = UINT32_MAX;
    launch.set(MOST, MOST, 2, 2, 3, 1);
    const simt::Grid grid(launch);
    const uint64_t across = (uint64_t{MOST} + 1) / 2, down = MOST / 3;
    CHECK_EQUAL(grid.count(), across * down * 2);
    uint32_t at[3], size[3];
    grid.position(grid.count() - 1, at);
    CHECK_EQUAL(at[0], across - 1);
    CHECK_EQUAL(at[1], down - 1);
    CHECK_EQUAL(at[2], 1);
    grid.size(at, size);
    CHECK_EQUAL(size[0], 1);
    CHECK_EQUAL(size[1], 3);
    launch.set(MOST, MOST, MOST, 1, 1, 1);
    CHECK_EQUAL(simt::Grid(launch).count(), UINT64_MAX);
}

}  // namespace

int main() {
    for (uint32_t threads : {1, 3}) {
        TestPool pool(threads);
        for (const Shape &shape : SHAPES) {
            for (simt_order order : ORDERS)
                check_shape(pool, shape, order);
        }
        an_empty_grid_runs_nothing(pool);
    }
    huge_grids_do_not_wrap_around();
}
