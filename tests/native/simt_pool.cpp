// Pools: as many threads as asked for, shared by callers, asleep between runs, harmless after a
// fork.
#include "simt_support.h"

#include <atomic>
#include <ctime>
#include <filesystem>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>
#include <vector>

namespace {

struct Crowd {
    std::atomic<int> present{0}, most{0};
};

// Counts who is inside, and stays until a few are or time is up.
void gather(const msl_thread *thread) {
    Crowd *crowd = buffer<Crowd>(thread, 0);
    const int now = ++crowd->present;
    for (int seen = crowd->most; seen < now && !crowd->most.compare_exchange_weak(seen, now);) {
    }
    usleep(2000);
    --crowd->present;
}

void as_many_run_at_once_as_the_pool_has_threads() {
    for (int threads : {1, 2, 4}) {
        TestPool pool(static_cast<uint32_t>(threads));
        CHECK_EQUAL(simt_pool_threads(pool.pool), threads);
        Crowd crowd;
        pool.run(Launch(gather, 40, 1, {&crowd}));
        CHECK_EQUAL(crowd.most.load(), threads);
    }
}

void add_index(const msl_thread *thread) {
    simt_runtime.barrier(site(1));
    buffer<uint32_t>(thread, 0)[thread->thread_in_grid[0]] += thread->thread_in_grid[0];
}

void check_sum(TestPool &pool, uint32_t groups) {
    std::vector<uint32_t> out(groups * 64);
    pool.run(Launch(add_index, groups * 64, 64, {out.data()}));
    for (uint32_t i = 0; i < out.size(); i++)
        CHECK_EQUAL(out[i], i);
}

void callers_share_a_pool() {
    TestPool pool(3);
    std::vector<std::thread> callers;
    for (uint32_t caller = 0; caller < 8; caller++) {
        callers.emplace_back([&pool, caller] {
            for (uint32_t run = 0; run < 50; run++)
                check_sum(pool, 1 + (caller + run) % 5);
        });
    }
    for (std::thread &caller : callers)
        caller.join();
}

void pools_come_and_go() {
    for (uint32_t round = 0; round < 50; round++) {
        TestPool unused(4);
        TestPool pool(4);
        check_sum(pool, 1 + round % 6);
    }
    simt_pool_release(nullptr);
}

double processor_seconds() {
    timespec now;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
    return static_cast<double>(now.tv_sec) + 1e-9 * static_cast<double>(now.tv_nsec);
}

void idle_threads_take_no_processor_time() {
    TestPool pool(4);
    check_sum(pool, 8);
    usleep(20000);
    const double before = processor_seconds();
    usleep(200000);
    CHECK(processor_seconds() - before < 0.05);
}

void a_forked_child_runs_on_its_own() {
    TestPool pool(4);
    check_sum(pool, 8);
    const pid_t child = fork();
    if (child == 0) {
        alarm(60);
        check_sum(pool, 8);
        check_sum(pool, 1);
        simt_pool_release(pool.pool);
        _exit(7);
    }
    int status;
    CHECK_EQUAL(waitpid(child, &status, 0), child);
    CHECK(WIFEXITED(status));
    CHECK_EQUAL(WEXITSTATUS(status), 7);
    check_sum(pool, 8);
}

// While others start runs and end them, so that the lock is often held at the fork.
void a_child_forked_in_the_middle_of_runs_does_not_hang() {
    TestPool pool(3);
    std::atomic<bool> stop{false};
    std::thread busy([&] {
        while (!stop)
            check_sum(pool, 4);
    });
    for (int round = 0; round < 20; round++) {
        const pid_t child = fork();
        if (child == 0) {
            alarm(60);
            check_sum(pool, 2);
            _exit(7);
        }
        int status;
        CHECK_EQUAL(waitpid(child, &status, 0), child);
        CHECK(WIFEXITED(status));
        CHECK_EQUAL(WEXITSTATUS(status), 7);
    }
    stop = true;
    busy.join();
}

long threads_of_process() {
    long count = 0;
    for (const auto &entry : std::filesystem::directory_iterator("/proc/self/task"))
        count += !entry.path().empty();
    return count;
}

// The system lists a thread for some time after it was joined.
void expect_threads(long count) {
    for (int wait = 0; wait < 5000 && threads_of_process() != count; wait++)
        usleep(1000);
    CHECK_EQUAL(threads_of_process(), count);
}

void a_pool_at_rest_has_no_threads_and_goes_on() {
    TestPool pool(3);
    const long before = threads_of_process();
    for (int run = 0; run < 3; run++) {
        check_sum(pool, 40);
        expect_threads(before + 2);
        simt_pool_rest(pool.pool);
        expect_threads(before);
    }
}

}  // namespace

int main() {
    a_pool_at_rest_has_no_threads_and_goes_on();  // first: others leave threads that are ending
    as_many_run_at_once_as_the_pool_has_threads();
    callers_share_a_pool();
    pools_come_and_go();
    idle_threads_take_no_processor_time();
    a_forked_child_runs_on_its_own();
    a_child_forked_in_the_middle_of_runs_does_not_hang();
}
