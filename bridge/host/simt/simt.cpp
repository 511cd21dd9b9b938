// The C API.
#include "simt.h"
#include "barrier.h"
#include "check/instrument.h"
#include "check/simt_checker.h"
#include "fault_signal.h"
#include "job.h"
#include "pool.h"
#include "misuse.h"
#include "processors.h"
#include "scratch.h"
#include "simdgroup.h"
#include "tasks.h"
#include "workers.h"

#include <cstring>
#include <new>

struct simt_pool : simt::Pool {
    using Pool::Pool;

    // A child alone cannot know whether the parent's locks are held.
    void run_anywhere(simt::Work &work, uint64_t pieces) {
        if (usable()) {
            run(work, pieces);
        } else {
            work.run();
        }
    }

    simt::Workers workers;
};

namespace {

const msl_thread *current_thread() {
    return &simt::running->thread[simt::running->current];
}

bool empty(const simt_launch &launch) {
    return launch.threads[0] == 0 || launch.threads[1] == 0 || launch.threads[2] == 0;
}

}  // namespace

extern "C" {

const msl_runtime simt_runtime = {
    MSL_ABI_VERSION,         simt::barrier_wait, simt::simdgroup_begin, simt::simdgroup_wait,
    simt::barrier_cooperate, current_thread,     simt::scratch_memory,  simt::report_misuse,
    simt::check_access,      simt::check_fence,
};

simt_pool *simt_pool_create(uint32_t threads) {
    return new (std::nothrow) simt_pool(threads != 0 ? threads : simt::processors_allowed());
}

char *simt_environment_fault(void) {
    const std::string fault = simt::environment_fault();
    return fault.empty() ? nullptr : strdup(fault.c_str());
}

uint32_t simt_pool_threads(const simt_pool *pool) {
    return pool->threads();
}

void simt_pool_release(simt_pool *pool) {
    // A child has nobody to wait for, and no way to know whether the lock is held.
    if (pool != nullptr && pool->usable()) delete pool;
}

void simt_pool_rest(simt_pool *pool) {
    if (!pool->usable()) return;
    pool->rest();
    pool->workers.discard();
}

void simt_exempt_signals(sigset_t *blocked) {
    simt::fault_signal_exempt(*blocked);
}

simt_fault_kind simt_run(simt_pool *pool, const simt_launch *launch, simt_fault *fault) {
    *fault = {};
    if (empty(*launch)) return SIMT_FAULT_NONE;
    simt::fault_signal_install();
    simt::Workers own;
    simt::Job job(*launch, pool->usable() ? pool->workers : own);
    // Checks see threadgroups one after another.
    if (launch->checker != nullptr) {
        job.run();
    } else {
        pool->run_anywhere(job, job.grid.count());
    }
    *fault = job.fault();
    return fault->kind;
}

simt_checker *simt_checker_create(bool strict) {
    return new (std::nothrow) simt_checker(strict);
}

void simt_checker_order(simt_checker *checker) {
    checker->order();
}

void simt_checker_release(simt_checker *checker) {
    delete checker;
}

bool simt_pool_for(simt_pool *pool, uint32_t count, simt_task task, void *context) {
    if (count == 0) return true;
    simt::fault_signal_install_now_and_then();
    simt::Tasks tasks(count, task, context);
    pool->run_anywhere(tasks, count);
    return tasks.intact();
}

}  // extern "C"
