// Barriers hold every thread until all have come, and say so when some cannot come.
#include "simt_support.h"

#include <vector>

namespace {

constexpr uint32_t THREADS = 1024;

// Each round reads what the whole threadgroup wrote in the one before.
void rotate(const msl_thread *thread) {
    auto *cells = reinterpret_cast<uint32_t *>(thread->threadgroup_memory[0]);
    const uint32_t i = thread->index, count = thread->threads_per_threadgroup[0];
    cells[i] = i;
    for (uint32_t round = 0; round < 20; round++) {
        simt_runtime.barrier(site(10));
        const uint32_t next = cells[(i + 1) % count];
        simt_runtime.barrier(site(11));
        cells[i] = next;
    }
    buffer<uint32_t>(thread, 0)[thread->thread_in_grid[0]] = cells[i];
}

void threads_see_what_others_wrote_before_a_barrier(TestPool &pool) {
    for (uint32_t size : {1u, 31u, 32u, 100u, 256u, THREADS}) {
        for (simt_order order : ORDERS) {
            std::vector<uint32_t> out(3 * size);
            Launch launch(rotate, 3 * size, size, {out.data()});
            launch.threadgroup_memory[0] = THREADS * sizeof(uint32_t);
            launch.order = order;
            pool.run(launch);
            for (uint32_t i = 0; i < out.size(); i++)
                CHECK_EQUAL(out[i], (i % size + 20) % size);
        }
    }
}

void one_thread_elsewhere(const msl_thread *thread) {
    if (thread->index == 70) {
        simt_runtime.barrier(site(12, 9));
    } else {
        simt_runtime.barrier(site(7, 5));
    }
}

void one_thread_returns(const msl_thread *thread) {
    if (thread->index != 70) simt_runtime.barrier(site(7, 5));
}

void same_line_other_column(const msl_thread *thread) {
    simt_runtime.barrier(site(7, thread->index % 2 == 0 ? 5 : 40));
}

// Lane 0 of each SIMD-group adds up what those of all have written, as rows of a product do.
void one_lane_of_each_simdgroup(const msl_thread *thread) {
    uint32_t *sums = buffer<uint32_t>(thread, 0) + 8 * thread->threadgroup_in_grid[0];
    if (thread->lane != 0) return;
    sums[thread->simdgroup] = thread->simdgroup + 1;
    simt_runtime.barrier(site(7));
    uint32_t total = 0;
    for (uint32_t s = 0; s < thread->simdgroups; s++)
        total += sums[s];
    simt_runtime.barrier(site(8));
    sums[thread->simdgroup] = total;
}

void one_simdgroup_returns(const msl_thread *thread) {
    if (thread->simdgroup != 1) simt_runtime.barrier(site(7, 5));
}

void whole_threadgroups_return(const msl_thread *thread) {
    if (thread->threadgroup_in_grid[0] % 2 == 1) return;
    simt_runtime.barrier(site(7));
    buffer<uint32_t>(thread, 0)[thread->thread_in_grid[0]] = 1;
}

void divergent_barriers_are_reported_with_both_lines(TestPool &pool) {
    for (simt_order order : ORDERS) {
        Launch launch(one_thread_elsewhere, 256, 256, {}, "tiles");
        launch.order = order;
        const simt_fault fault = pool.fault_of(launch);
        CHECK_EQUAL(fault.kind, SIMT_FAULT_DIVERGENT_BARRIER);
        CHECK(says(fault, "kernel 'tiles'"));
        CHECK(says(fault, "thread 0 waits at line 7, thread 70 at line 12"));
    }
    Launch columns(same_line_other_column, 64, 64, {});
    CHECK_EQUAL(pool.fault_of(columns).kind, SIMT_FAULT_DIVERGENT_BARRIER);
}

// As on a GPU; but who looks for mistakes wants to know.
void simdgroups_meet_by_any_of_their_lanes_in_the_default_order(TestPool &pool) {
    std::vector<uint32_t> sums(3 * 8);
    pool.run(Launch(one_lane_of_each_simdgroup, 3 * 250, 250, {sums.data()}));
    for (uint32_t sum : sums)
        CHECK_EQUAL(sum, 36);
    Launch strict(one_lane_of_each_simdgroup, 256, 256, {sums.data()});
    strict.order = SIMT_LOWEST_FIRST;
    CHECK(says(pool.fault_of(strict), "8 of 256 threads wait at line 7"));
}

void simdgroups_that_return_before_a_barrier_are_reported(TestPool &pool) {
    for (simt_order order : ORDERS) {
        Launch launch(one_simdgroup_returns, 128, 128, {});
        launch.order = order;
        CHECK(says(pool.fault_of(launch),
                   "96 of 128 threads wait at line 7, the others have returned"));
    }
}

void threads_that_return_before_a_barrier_are_reported(TestPool &pool) {
    for (simt_order order : {SIMT_LOWEST_FIRST, SIMT_RANDOM}) {
        Launch launch(one_thread_returns, 300, 300, {});
        launch.order = order;
        const simt_fault fault = pool.fault_of(launch);
        CHECK_EQUAL(fault.kind, SIMT_FAULT_DIVERGENT_BARRIER);
        CHECK(says(fault, "299 of 300 threads wait at line 7, the others have returned"));
        CHECK(says(fault, "threadgroup (0, 0, 0)"));
    }
}

void whole_threadgroups_may_return_early(TestPool &pool) {
    std::vector<uint32_t> out(4 * 64);
    pool.run(Launch(whole_threadgroups_return, 4 * 64, 64, {out.data()}));
    for (uint32_t i = 0; i < out.size(); i++)
        CHECK_EQUAL(out[i], i / 64 % 2 == 0);
}

void a_fault_leaves_the_pool_usable_and_starts_no_more_threadgroups() {
    TestPool pool(1);
    Launch bad(one_thread_elsewhere, 1000 * 256, 256, {});
    CHECK(says(pool.fault_of(bad), "threadgroup (0, 0, 0)"));
    threads_see_what_others_wrote_before_a_barrier(pool);
}

void add_all(void **all, uint32_t threads) {
    uint64_t sum = 0;
    for (uint32_t i = 0; i < threads; i++)
        sum += *static_cast<uint64_t *>(all[i]);
    for (uint32_t i = 0; i < threads; i++)
        *static_cast<uint64_t *>(all[i]) = sum;
}

void cooperate(const msl_thread *thread) {
    uint64_t mine = thread->index;
    simt_runtime.cooperate(site(20), &mine, add_all);
    const uint64_t first = mine;
    mine = 1;
    simt_runtime.cooperate(site(21), &mine, add_all);
    simt_runtime.barrier(site(22));
    buffer<uint64_t>(thread, 0)[thread->thread_in_grid[0]] = first * mine;
}

void a_leader_acts_once_for_all_threads(TestPool &pool) {
    for (uint64_t size : {1, 50, 1024}) {
        for (simt_order order : ORDERS) {
            std::vector<uint64_t> out(2 * size);
            Launch launch(cooperate, static_cast<uint32_t>(2 * size), static_cast<uint32_t>(size),
                          {out.data()});
            launch.order = order;
            pool.run(launch);
            for (uint64_t value : out)
                CHECK_EQUAL(value, size * (size - 1) / 2 * size);
        }
    }
}

void simd_barrier(uint64_t at) {
    simt_runtime.simd_wait(at, MSL_SIMD_BARRIER);
}

void one_lane_at_another_simdgroup_barrier(const msl_thread *thread) {
    simd_barrier(site(thread->index == 70 ? 12 : 7));
}

void one_lane_at_a_barrier_of_all(const msl_thread *thread) {
    if (thread->index == 70) simt_runtime.barrier(site(12));
    simd_barrier(site(7));
}

// The barrier that stands first in the text is no operation that lets lanes catch up.
void one_lane_at_an_earlier_line(const msl_thread *thread) {
    simd_barrier(site(thread->lane == 0 ? 3 : 7));
}

void one_lane_returns(const msl_thread *thread) {
    if (thread->index == 70) return;
    simd_barrier(site(7));
    buffer<uint32_t>(thread, 0)[thread->index] = 1;
}

void expect_in_all_orders(TestPool &pool, Entry entry, const char *text) {
    for (simt_order order : ORDERS) {
        Launch launch(entry, 100, 100, {}, "tiles");
        launch.order = order;
        const simt_fault fault = pool.fault_of(launch);
        CHECK_EQUAL(fault.kind, SIMT_FAULT_DIVERGENT_BARRIER);
        if (!says(fault, text)) fprintf(stderr, "message: %s\n", fault.message);
        CHECK(says(fault, text));
    }
}

void divergent_simdgroup_barriers_are_reported_with_both_lines(TestPool &pool) {
    expect_in_all_orders(pool, one_lane_at_another_simdgroup_barrier,
                         "kernel 'tiles': divergent simdgroup_barrier in threadgroup (0, 0, 0), "
                         "SIMD-group 2: thread 64 waits at line 7 (simdgroup_barrier), "
                         "thread 70 at line 12 (simdgroup_barrier)");
    expect_in_all_orders(pool, one_lane_at_a_barrier_of_all,
                         "SIMD-group 2: thread 64 waits at line 7 (simdgroup_barrier), "
                         "thread 70 at line 12 (threadgroup_barrier)");
    expect_in_all_orders(pool, one_lane_at_an_earlier_line, " at line 3 (simdgroup_barrier), ");
}

void lanes_that_return_before_a_simdgroup_barrier_are_forgiven_in_the_default_order(
    TestPool &pool) {
    uint32_t ran[100] = {};
    pool.run(Launch(one_lane_returns, 100, 100, {ran}));
    for (uint32_t i = 0; i < 100; i++)
        CHECK_EQUAL(ran[i], i != 70);
    for (simt_order order : {SIMT_LOWEST_FIRST, SIMT_RANDOM}) {
        Launch strict(one_lane_returns, 100, 100, {ran});
        strict.order = order;
        CHECK(says(pool.fault_of(strict), "SIMD-group 2: 31 of 32 threads wait at line 7 "
                                          "(simdgroup_barrier), the others have returned"));
    }
}

// Half of the lanes have an operation before a barrier; the last SIMD-group has four lanes.
void operations_before_a_simdgroup_barrier(const msl_thread *thread) {
    uint32_t sum = 0;
    for (uint32_t round = 0; round < 5; round++) {
        simd_barrier(site(4));
        if (thread->lane % 2 == 1) {
            exchange(site(6), sum);
            sum++;
        }
        simd_barrier(site(5));
        if (thread->simdgroup == 1) simd_barrier(site(8));
    }
    buffer<uint32_t>(thread, 0)[thread->index] = sum;
}

void simdgroup_barriers_wait_for_lanes_in_operations(TestPool &pool) {
    for (simt_order order : ORDERS) {
        uint32_t sums[100] = {};
        Launch launch(operations_before_a_simdgroup_barrier, 100, 100, {sums});
        launch.order = order;
        pool.run(launch);
        for (uint32_t i = 0; i < 100; i++)
            CHECK_EQUAL(sums[i], i % 2 == 1 ? 5 : 0);
    }
}

}  // namespace

int main() {
    for (uint32_t threads : {1, 4}) {
        TestPool pool(threads);
        threads_see_what_others_wrote_before_a_barrier(pool);
        divergent_barriers_are_reported_with_both_lines(pool);
        threads_that_return_before_a_barrier_are_reported(pool);
        simdgroups_meet_by_any_of_their_lanes_in_the_default_order(pool);
        simdgroups_that_return_before_a_barrier_are_reported(pool);
        whole_threadgroups_may_return_early(pool);
        a_leader_acts_once_for_all_threads(pool);
        divergent_simdgroup_barriers_are_reported_with_both_lines(pool);
        lanes_that_return_before_a_simdgroup_barrier_are_forgiven_in_the_default_order(pool);
        simdgroup_barriers_wait_for_lanes_in_operations(pool);
    }
    a_fault_leaves_the_pool_usable_and_starts_no_more_threadgroups();
}
