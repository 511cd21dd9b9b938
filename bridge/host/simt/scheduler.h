// Which thread of the running threadgroup goes on: a thread runs until it must wait for others.
#pragma once
#include "threadgroup.h"

namespace simt {

constexpr uint32_t NO_THREAD = ~0u;

// Marks every thread ready.
void scheduler_start(Threadgroup &group);
// Marks some lanes of each SIMD-group ready, when nobody is.
void scheduler_continue(Threadgroup &group, const uint32_t *lanes);
// Takes the thread that runs first.
uint32_t scheduler_first(Threadgroup &group);
// Takes the thread that runs after one of SIMD-group `s`, which is no longer in a mask or has
// returned. Resolves what the others wait for when none is ready. NO_THREAD: all have returned.
uint32_t scheduler_next(Threadgroup &group, uint32_t s);
// Continues the worker; whatever the threads had left to do is dropped.
[[noreturn]] void scheduler_leave(Threadgroup &group);

inline void scheduler_switch(Threadgroup &group, uint32_t from, uint32_t to) {
    group.current = to;
    sanitizer::leave(group.stack[from], group.stack[to]);
    simt_fiber_switch(&group.suspended[from], group.suspended[to]);
    sanitizer::arrive(group.stack[from]);
}

// Switching in the fixed order goes through stacks faster than caches follow by themselves.
inline void prefetch_stack(const Threadgroup &group, uint32_t i) {
    constexpr uintptr_t LINES = 6, LINE_BYTES = 64;
    const auto top = reinterpret_cast<uintptr_t>(group.suspended[i % MSL_MAX_THREADS]);
    for (uintptr_t line = 0; line < LINES; line++) {
        __builtin_prefetch(reinterpret_cast<const void *>(top + line * LINE_BYTES), 1, 3);
    }
}

// Suspends the running thread, which has noted where it waits.
inline __attribute__((always_inline)) void scheduler_wait(Threadgroup &group) {
    const uint32_t from = group.current, s = from / MSL_LANES, ready = group.ready[s];
    uint32_t to;
    if (ready != 0 && group.order == SIMT_HIGHEST_FIRST) {  // nearly always: no call
        const uint32_t lane = MSL_LANES - 1 - static_cast<uint32_t>(__builtin_clz(ready));
        group.ready[s] = ready ^ 1u << lane;
        to = s * MSL_LANES + lane;
        prefetch_stack(group, to - 2);
    } else {
        to = scheduler_next(group, s);
        if (to == from) return;
    }
    scheduler_switch(group, from, to);
}

}  // namespace simt
