// The threadgroup that a worker runs: its threads, where each of them waits, and what they share.
#pragma once
#include "machine_context.h"
#include "scratch.h"
#include "simt.h"
#include "stack.h"

namespace simt {

class Checker;
struct Finding;

constexpr uint32_t MAX_SIMDGROUPS = MSL_MAX_THREADS / MSL_LANES;
// As a thread's stop: it has returned.
constexpr uint64_t RETURNED = ~uint64_t{0};
constexpr uint32_t STOP_SITE_SHIFT = 64 - MSL_SITE_BITS, STOP_SIZE = (1u << STOP_SITE_SHIFT) - 1;

// Where a thread waits, with how many bytes of an operand.
constexpr uint64_t stop_at(uint64_t site, uint32_t size) {
    return site << STOP_SITE_SHIFT | size;
}

constexpr uint32_t NO_SIMDGROUP = ~0u;

// Why a threadgroup was abandoned.
struct Incident {
    simt_fault_kind kind = SIMT_FAULT_NONE;
    int signal = 0;
    int code = 0;  // the signal's si_code
    const void *address = nullptr;
    uint64_t site = 0;
    const char *misuse = nullptr;
    const Finding *finding = nullptr;   // the checker's
    uint32_t simdgroup = NO_SIMDGROUP;  // of a divergent simdgroup_barrier
};

using Leader = void (*)(void **all, uint32_t threads);

struct Threadgroup {
    // The scheduler's. A bit for each lane, by SIMD-group; the running thread is in no mask.
    uint32_t current;  // the running thread
    simt_order order;
    uint32_t ready_simdgroups;  // those with a ready lane, and the running thread's
    uint32_t alive;             // threads that have not returned
    uint32_t ready[MAX_SIMDGROUPS];
    uint32_t at_simd[MAX_SIMDGROUPS];  // wait in a SIMD-group operation
    uint64_t stop[MSL_MAX_THREADS];    // where each thread waits: see stop_at
    Suspended suspended[MSL_MAX_THREADS];
    Suspended main;  // the worker, until no thread is left
    uint64_t random;

    // The threads' number and identity.
    uint32_t threads, simdgroups;
    uint32_t position[3];  // of the threadgroup in the grid
    uint32_t origin[3];    // of its first thread in the grid
    void (*entry)(const msl_thread *);
    const Suspended *fibers;  // as they are before they start, by thread
    msl_thread thread[MSL_MAX_THREADS];

    // What they meet in.
    msl_exchange exchange[MAX_SIMDGROUPS];
    Leader leader;  // of the meeting that fills up
    void *cooperating[MSL_MAX_THREADS];
    Scratch *scratch;  // the worker's
    Checker *checker;  // null: none
    Incident incident;
    MachineRegisters registers;  // where a signal has ended the kernel, in an incident of that
    uintptr_t code;              // where the kernel's library lies, of a launch with a deadline
    size_t code_bytes;

    const sanitizer::Stack *stacks;           // the fibers', by thread
    sanitizer::Stack stack[MSL_MAX_THREADS];  // that each thread runs on
    sanitizer::Stack main_stack;
};

// The one that this OS thread runs, null between threadgroups. Reached without a call, also from a
// library that was loaded at run time: it is read at every switch.
extern __thread Threadgroup *running __attribute__((tls_model("initial-exec")));

// What every fiber runs.
void threadgroup_fiber();
// Runs the threads that are laid out, from the start to the end or to an incident.
void threadgroup_run(Threadgroup &group);

// Lanes of SIMD-group `s` that exist.
inline uint32_t lanes_of(const Threadgroup &group, uint32_t s) {
    const uint32_t rest = group.threads - s * MSL_LANES;
    return rest >= MSL_LANES ? ~0u : (1u << rest) - 1;
}

}  // namespace simt
