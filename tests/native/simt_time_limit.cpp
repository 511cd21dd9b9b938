// A kernel that never ends is ended at its launch's deadline, and leaves the pool usable.
#include "simt_library.h"
#include "simt_support.h"

#include <csignal>
#include <ctime>
#include <thread>
#include <unistd.h>
#include <vector>

#if defined(__clang__)
#define AS_WRITTEN __attribute__((noinline, optnone, no_sanitize("all")))
#else
#define AS_WRITTEN __attribute__((noinline, optimize("O0"), no_sanitize("address", "undefined")))
#endif

namespace {

constexpr uint32_t SIZE = 64, GROUPS = 3;
constexpr uint64_t MILLISECOND = 1000000;

uint64_t in_milliseconds(uint64_t count) {
    timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return static_cast<uint64_t>(now.tv_sec) * 1000 * MILLISECOND +
           static_cast<uint64_t>(now.tv_nsec) + count * MILLISECOND;
}

AS_WRITTEN OF_SOURCE void spin(const msl_thread *) {
    for (volatile bool never = false; !never;) {
    }
}

AS_WRITTEN OF_SOURCE void meet_again_and_again(const msl_thread *) {
    for (volatile bool never = false; !never;)
        simt_runtime.barrier(site(3));
}

AS_WRITTEN OF_SOURCE void sum_again_and_again(const msl_thread *) {
    for (volatile bool never = false; !never;)
        simd_sum(site(4), 1u);
}

AS_WRITTEN OF_SOURCE void ask_for_memory_again_and_again(const msl_thread *) {
    for (volatile bool never = false; !never;)
        simt_runtime.scratch(64);
}

AS_WRITTEN OF_SOURCE void last_one_spins(const msl_thread *thread) {
    if (thread->thread_in_grid[0] == GROUPS * SIZE - 1) spin(thread);
}

void add_one(const msl_thread *thread) {
    simt_runtime.barrier(site(1));
    buffer<uint32_t>(thread, 0)[thread->thread_in_grid[0]]++;
}

void check_usable(TestPool &pool, uint64_t deadline = 0) {
    std::vector<uint32_t> out(GROUPS * SIZE);
    Launch launch(add_one, GROUPS * SIZE, SIZE, {out.data()});
    launch.deadline = deadline;
    pool.run(launch);
    for (uint32_t value : out)
        CHECK_EQUAL(value, 1);
}

void expect(TestPool &pool, Entry entry, uint64_t deadline, const char *text) {
    Launch launch(entry, GROUPS * SIZE, SIZE, {}, "endless");
    launch.deadline = deadline;
    const simt_fault fault = pool.fault_of(launch);
    CHECK_EQUAL(fault.kind, SIMT_FAULT_TIMEOUT);
    if (!says(fault, text)) fprintf(stderr, "message: %s\n", fault.message);
    CHECK(says(fault, text));
    CHECK(says(fault, "at source:7 was still running"));
    check_usable(pool);
}

void kernels_without_an_end_are_ended(TestPool &pool) {
    for (Entry entry :
         {spin, meet_again_and_again, sum_again_and_again, ask_for_memory_again_and_again})
        expect(pool, entry, in_milliseconds(20), "kernel 'endless': threadgroup (");
    expect(pool, last_one_spins, in_milliseconds(20), "threadgroup (2, 0, 0), thread (63, 0, 0) ");
    expect(pool, spin, 1, "kernel 'endless'");  // long ago
}

void kernels_that_end_in_time_are_not(TestPool &pool) {
    for (int run = 0; run < 100; run++)
        check_usable(pool, in_milliseconds(10000));
}

void a_deadline_concerns_its_own_launch_only() {
    TestPool pool(3);
    std::vector<std::thread> callers;
    for (int caller = 0; caller < 4; caller++) {
        callers.emplace_back([&pool, caller] {
            for (int run = 0; run < 5; run++) {
                if (caller % 2 == 0) expect(pool, spin, in_milliseconds(5), "endless");
                check_usable(pool);
            }
        });
    }
    for (std::thread &caller : callers)
        caller.join();
}

volatile std::sig_atomic_t handled = 0;

void count(int) {
    handled = handled + 1;
}

void the_signal_reaches_the_handler_of_the_process(TestPool &pool) {
    signal(SIGURG, count);
    expect(pool, spin, in_milliseconds(5), "endless");
    CHECK_EQUAL(handled, 0);
    raise(SIGURG);
    CHECK_EQUAL(handled, 1);
    // One that is set later, too, and it takes nothing from later deadlines.
    signal(SIGURG, SIG_IGN);
    expect(pool, spin, in_milliseconds(5), "endless");
    raise(SIGURG);
    CHECK_EQUAL(handled, 1);
}

}  // namespace

int main() {
    for (uint32_t threads : {1, 3}) {
        TestPool pool(threads);
        kernels_without_an_end_are_ended(pool);
        kernels_that_end_in_time_are_not(pool);
        the_signal_reaches_the_handler_of_the_process(pool);
        handled = 0;
    }
    a_deadline_concerns_its_own_launch_only();
}
