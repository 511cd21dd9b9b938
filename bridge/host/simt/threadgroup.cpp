#include "threadgroup.h"
#include "scheduler.h"

#include <algorithm>

namespace simt {

__thread Threadgroup *running = nullptr;

namespace {

// The place in the grid changes with every threadgroup: written when a thread starts, which reads
// it.
void place(Threadgroup &group, msl_thread &thread) {
    for (int k = 0; k < 3; k++) {
        thread.threadgroup_in_grid[k] = group.position[k];
        thread.thread_in_grid[k] = group.origin[k] + thread.thread_in_threadgroup[k];
    }
}

}  // namespace

// One thread after another, as long as the next one has not started either: a kernel that never
// waits needs one stack and no switch.
void threadgroup_fiber() {
    Threadgroup &group = *running;
    sanitizer::arrive_first(group.main_stack);
    for (;;) {
        const uint32_t i = group.current;
        place(group, group.thread[i]);
        group.entry(&group.thread[i]);
        group.stop[i] = RETURNED;
        group.alive--;
        const uint32_t next = scheduler_next(group, i / MSL_LANES);
        if (next == NO_THREAD) scheduler_leave(group);
        if (group.suspended[next] == group.fibers[next]) {
            group.stack[next] = group.stack[i];
            group.current = next;
            continue;
        }
        group.current = next;
        sanitizer::leave_for_good(group.stack[next]);
        simt_fiber_switch(&group.suspended[i], group.suspended[next]);
        __builtin_unreachable();
    }
}

void threadgroup_run(Threadgroup &group) {
    std::copy_n(group.fibers, group.threads, group.suspended);
    std::copy_n(group.stacks, group.threads, group.stack);
    group.main_stack = {};
    group.incident = {};
    group.leader = nullptr;
    scheduler_start(group);
    group.current = scheduler_first(group);
    running = &group;
    sanitizer::leave(group.main_stack, group.stack[group.current]);
    simt_fiber_switch(&group.main, group.suspended[group.current]);
    running = nullptr;
    sanitizer::arrive(group.main_stack);
    if (group.incident.kind == SIMT_FAULT_NONE) return;
    for (uint32_t i = 0; i < group.threads; i++)
        sanitizer::clean(group.stacks[i]);
}

}  // namespace simt
