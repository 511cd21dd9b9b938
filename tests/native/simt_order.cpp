// The orders in which threads run: what kernels that assume lockstep lean on.
#include "simt_support.h"

#include <algorithm>
#include <vector>

namespace {

constexpr uint32_t THREADS = 80;

struct Trace {
    uint32_t length;
    uint32_t thread[4 * THREADS];
};

void note(const msl_thread *thread) {
    Trace *trace = buffer<Trace>(thread, 0);
    trace->thread[trace->length++] = thread->index;
}

void two_phases(const msl_thread *thread) {
    note(thread);
    simt_runtime.barrier(site(1));
    note(thread);
    simd_sum(site(2), 1);
    note(thread);
}

Trace traced(TestPool &pool, simt_order order, uint64_t seed) {
    Trace trace = {};
    Launch launch(two_phases, THREADS, THREADS, {&trace});
    launch.order = order;
    launch.seed = seed;
    pool.run(launch);
    CHECK_EQUAL(trace.length, 3 * THREADS);
    return trace;
}

bool equal(const Trace &a, const Trace &b) {
    return std::equal(a.thread, a.thread + a.length, b.thread);
}

void fixed_orders_go_through_simdgroups_and_lanes_one_way(TestPool &pool) {
    const Trace down = traced(pool, SIMT_HIGHEST_FIRST, 1), up = traced(pool, SIMT_LOWEST_FIRST, 1);
    for (uint32_t i = 0; i < THREADS; i++) {
        CHECK_EQUAL(down.thread[i], THREADS - 1 - i);
        CHECK_EQUAL(up.thread[i], i);
    }
    // After the barrier each SIMD-group comes to its operation and through it before the next one.
    CHECK_EQUAL(down.thread[THREADS], 79);
    CHECK_EQUAL(down.thread[THREADS + 15], 64);
    CHECK_EQUAL(down.thread[THREADS + 16], 79);
    CHECK_EQUAL(down.thread[THREADS + 32], 63);
    CHECK_EQUAL(up.thread[THREADS + 31], 31);
    CHECK_EQUAL(up.thread[THREADS + 32], 0);
}

void random_order_follows_the_seed(TestPool &pool) {
    const Trace one = traced(pool, SIMT_RANDOM, 1);
    CHECK(equal(one, traced(pool, SIMT_RANDOM, 1)));
    CHECK(!equal(one, traced(pool, SIMT_RANDOM, 2)));
    CHECK(!equal(one, traced(pool, SIMT_RANDOM, 3)));
    CHECK(!std::is_sorted(one.thread, one.thread + THREADS));
}

// Every thread reads the maximum that thread 0 left; then thread 0 overwrites it, with no barrier.
void overwrite_while_others_read(const msl_thread *thread) {
    auto *cell = reinterpret_cast<uint32_t *>(thread->threadgroup_memory[3]);
    if (thread->index == 0) *cell = 5;
    simt_runtime.barrier(site(1));
    const uint32_t seen = *cell;
    if (thread->index == 0) *cell = 9;
    buffer<uint32_t>(thread, 0)[thread->index] = seen;
}

void the_default_order_lets_the_leader_write_last(TestPool &pool) {
    std::vector<uint32_t> out(256);
    Launch launch(overwrite_while_others_read, 256, 256, {out.data()});
    launch.threadgroup_memory[3] = sizeof(uint32_t);
    pool.run(launch);
    CHECK_EQUAL(std::count(out.begin(), out.end(), 5u), 256);
    launch.order = SIMT_LOWEST_FIRST;  // shows the race
    pool.run(launch);
    CHECK_EQUAL(std::count(out.begin(), out.end(), 9u), 255);
}

}  // namespace

int main() {
    TestPool pool(1);
    fixed_orders_go_through_simdgroups_and_lanes_one_way(pool);
    random_order_follows_the_seed(pool);
    the_default_order_lets_the_leader_write_last(pool);
}
