// Tasks on a pool: each once, on all threads, as kernels compute, and none takes the process along.
#include "simt_support.h"

#include <atomic>
#include <cfenv>
#include <cfloat>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>
#include <vector>

namespace {

void count(void *context, uint32_t i) {
    static_cast<std::atomic<int> *>(context)[i]++;
}

void each_task_runs_once(TestPool &pool) {
    for (uint32_t tasks : {0u, 1u, 2u, 7u, 1000u}) {
        std::vector<std::atomic<int>> calls(tasks + 1);
        CHECK(simt_pool_for(pool.pool, tasks, count, calls.data()));
        for (uint32_t i = 0; i < tasks; i++)
            CHECK_EQUAL(calls[i].load(), 1);
        CHECK_EQUAL(calls[tasks].load(), 0);
    }
}

struct Crowd {
    std::atomic<int> present{0}, most{0};
};

void gather(void *context, uint32_t) {
    Crowd *crowd = static_cast<Crowd *>(context);
    const int now = ++crowd->present;
    for (int seen = crowd->most; seen < now && !crowd->most.compare_exchange_weak(seen, now);) {
    }
    usleep(2000);
    --crowd->present;
}

void as_many_run_at_once_as_the_pool_has_threads() {
    for (int threads : {1, 2, 4}) {
        TestPool pool(static_cast<uint32_t>(threads));
        Crowd crowd;
        CHECK(simt_pool_for(pool.pool, 40, gather, &crowd));
        CHECK_EQUAL(crowd.most.load(), threads);
    }
}

void divide(void *context, uint32_t i) {
    volatile float one = 1, three = 3, smallest = FLT_MIN, four = 4;
    static_cast<float *>(context)[i] = i % 2 ? one / three : smallest / four;
}

void rounding_of_the_caller_is_not_inherited(TestPool &pool) {
    std::vector<float> quotients(64);
    fesetround(FE_UPWARD);
    CHECK(simt_pool_for(pool.pool, 64, divide, quotients.data()));
    CHECK_EQUAL(fegetround(), FE_UPWARD);
    fesetround(FE_TONEAREST);
    for (uint32_t i = 0; i < 64; i++)
        CHECK(quotients[i] == (i % 2 ? 1.0f / 3 : FLT_MIN / 4));
}

// Task 5 of them reads a page that nobody may read.
struct Trap {
    std::atomic<int> done{0};
    volatile char *page;
};

void step_on(void *context, uint32_t i) {
    Trap *trap = static_cast<Trap *>(context);
    if (i == 5) (void)trap->page[0];
    trap->done++;
}

void a_task_that_faults_ends_its_run_alone(TestPool &pool) {
    const size_t bytes = static_cast<size_t>(sysconf(_SC_PAGESIZE));
    void *page = mmap(nullptr, bytes, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    CHECK(page != MAP_FAILED);
    for (int round = 0; round < 3; round++) {
        Trap trap;
        trap.page = static_cast<char *>(page);
        CHECK(!simt_pool_for(pool.pool, 1000, step_on, &trap));
        CHECK(trap.done < 1000);
        each_task_runs_once(pool);
    }
    munmap(page, bytes);
}

void a_forked_child_runs_on_its_own(TestPool &pool) {
    each_task_runs_once(pool);
    const pid_t child = fork();
    if (child == 0) {
        alarm(60);
        each_task_runs_once(pool);
        _exit(7);
    }
    int status;
    CHECK_EQUAL(waitpid(child, &status, 0), child);
    CHECK(WIFEXITED(status));
    CHECK_EQUAL(WEXITSTATUS(status), 7);
}

}  // namespace

int main() {
    as_many_run_at_once_as_the_pool_has_threads();
    for (uint32_t threads : {1u, 3u}) {
        TestPool pool(threads);
        each_task_runs_once(pool);
        rounding_of_the_caller_is_not_inherited(pool);
        a_task_that_faults_ends_its_run_alone(pool);
        a_forked_child_runs_on_its_own(pool);
    }
}
