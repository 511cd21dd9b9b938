/* The SIMT engine of host Metal: runs a compiled kernel over a grid, one fiber a thread. No
 * Objective-C, no Python. */
#ifndef SIMT_H
#define SIMT_H

#include "msl.h"
#include <signal.h>

#ifdef __cplusplus
extern "C" {
#endif

/* What compiled libraries call; whoever loads one binds it to this table. */
extern const msl_runtime simt_runtime;

/* Threads that share work; they sleep when there is nothing to do. */
typedef struct simt_pool simt_pool;

/* `threads`: how many run at once, whoever calls for them included; 0: all that the process may
 * use, or FLASHMETAL_THREADS. Threads start with the first run that has work for them; where the
 * system refuses one, fewer run. NULL when memory is out. */
simt_pool *simt_pool_create(uint32_t threads);
/* What is wrong with FLASHMETAL_THREADS, which pools ignore then; malloc'ed, the caller frees it;
 * NULL: nothing. */
char *simt_environment_fault(void);
uint32_t simt_pool_threads(const simt_pool *pool);
/* No run may be in progress. NULL is fine. */
void simt_pool_release(simt_pool *pool);
/* Gives back threads and memory until the next run. No run may be in progress. */
void simt_pool_rest(simt_pool *pool);
/* Takes out of a set what a thread that runs kernels must not block. */
void simt_exempt_signals(sigset_t *blocked);

/* One task; it must hold nothing that would be lost if it ended in the middle. */
typedef void (*simt_task)(void *context, uint32_t i);
/* Calls task(context, i) for every i below `count`, here and on the pool's threads, in the
 * floating-point environment of kernels; returns when all are done. False when one touched memory
 * that is not there: it ended in the middle, and those not yet started are left out. Several
 * threads may share a pool. A forked child has none of its parent's threads: there the caller does
 * it all. */
bool simt_pool_for(simt_pool *pool, uint32_t count, simt_task task, void *context);

/* Which of the threads that can go on runs next. Public kernels lean on lockstep: by convention
 * lane 0 of SIMD-group 0 overwrites what the others read, so the default runs it last. */
typedef enum simt_order {
    SIMT_HIGHEST_FIRST = 0,
    SIMT_LOWEST_FIRST = 1,
    SIMT_RANDOM = 2,
} simt_order;

/* Checks what dispatches do to memory: their arguments' bounds, races, and threadgroup memory that
 * is read before it is written. Of libraries that were compiled with checks; the dispatches of one
 * checker run one after another, on the calling thread. */
typedef struct simt_checker simt_checker;

/* `strict`: two threads of a SIMD-group need a barrier, too, and so does a write that changes
 * nothing. NULL: no memory. */
simt_checker *simt_checker_create(bool strict);
/* All that has run comes before all that follows, as a barrier between dispatches says. */
void simt_checker_order(simt_checker *checker);
void simt_checker_release(simt_checker *checker); /* NULL is fine */

typedef struct simt_launch {
    const msl_library *library;
    const msl_kernel *kernel;
    void *buffers[MSL_MAX_BUFFERS];
    uint64_t buffer_lengths[MSL_MAX_BUFFERS];     /* bytes from each pointer to its end */
    uint32_t threadgroup_memory[MSL_MAX_BUFFERS]; /* bytes of [[threadgroup(i)]] */
    uint32_t threads[3];                          /* of the grid, exact */
    uint32_t threads_per_threadgroup[3];          /* product 1 to MSL_MAX_THREADS */
    simt_order order;
    uint64_t seed;
    simt_checker *checker; /* NULL: none */
    uint64_t deadline;     /* by CLOCK_MONOTONIC, in nanoseconds: whatever runs then is ended;
                            * 0: never */
} simt_launch;

typedef enum simt_fault_kind {
    SIMT_FAULT_NONE = 0,
    SIMT_FAULT_DIVERGENT_BARRIER,
    SIMT_FAULT_PAGE, /* the kernel did what the processor refuses: touched memory that is not there,
                      * ran out of stack, divided an integer by zero */
    SIMT_FAULT_OUT_OF_MEMORY,
    SIMT_FAULT_MEMORY,  /* checks: a race, or threadgroup memory read before it is written */
    SIMT_FAULT_MISUSE,  /* it broke a rule of MSL that only a running kernel can break */
    SIMT_FAULT_TIMEOUT, /* it still ran at the deadline */
} simt_fault_kind;

typedef struct simt_fault {
    simt_fault_kind kind;
    char message[512];
} simt_fault;

/* Runs the whole grid; returns when it is done. The first fault of any threadgroup is reported and
 * the threadgroups not yet started are left out. Pool and fork: as above. */
simt_fault_kind simt_run(simt_pool *pool, const simt_launch *launch, simt_fault *fault);

#ifdef __cplusplus
}
#endif
#endif
