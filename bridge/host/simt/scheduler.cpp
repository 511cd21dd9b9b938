#include "scheduler.h"
#include "barrier.h"
#include "simdgroup.h"

#include <algorithm>

namespace simt {
namespace {

uint64_t next_random(Threadgroup &group) {  // xorshift64
    uint64_t x = group.random;
    x ^= x << 13;
    x ^= x >> 7;
    x ^= x << 17;
    return group.random = x;
}

// The next set bit from a random place on: not quite uniform, but without a branch.
uint32_t random_bit(Threadgroup &group, uint32_t mask) {
    const auto from = static_cast<uint32_t>(next_random(group) >> 59);
    const uint32_t turned = mask >> from | mask << (32 - from) % 32;
    return (static_cast<uint32_t>(__builtin_ctz(turned)) + from) % 32;
}

// Whether the random order leaves a SIMD-group that could go on: seldom, by bits of the last draw
// that random_bit did not use.
bool leaves_simdgroup(const Threadgroup &group) {
    return group.order == SIMT_RANDOM && group.random % 16 == 0;
}

uint32_t pick(Threadgroup &group, uint32_t mask) {
    switch (group.order) {
    case SIMT_LOWEST_FIRST:
        return static_cast<uint32_t>(__builtin_ctz(mask));
    case SIMT_RANDOM:
        return random_bit(group, mask);
    case SIMT_HIGHEST_FIRST:
        break;
    }
    return 31 - static_cast<uint32_t>(__builtin_clz(mask));
}

uint32_t take(Threadgroup &group, uint32_t s) {
    const uint32_t lane = pick(group, group.ready[s]);
    group.ready[s] &= ~(1u << lane);
    return s * MSL_LANES + lane;
}

}  // namespace

void scheduler_start(Threadgroup &group) {
    group.alive = group.threads;
    for (uint32_t s = 0; s < group.simdgroups; s++) {
        group.ready[s] = lanes_of(group, s);
        group.at_simd[s] = 0;
    }
    group.ready_simdgroups = static_cast<uint32_t>((uint64_t{1} << group.simdgroups) - 1);
}

void scheduler_continue(Threadgroup &group, const uint32_t *lanes) {
    std::copy_n(lanes, group.simdgroups, group.ready);
    group.ready_simdgroups = static_cast<uint32_t>((uint64_t{1} << group.simdgroups) - 1);
}

uint32_t scheduler_first(Threadgroup &group) {
    return take(group, pick(group, group.ready_simdgroups));
}

uint32_t scheduler_next(Threadgroup &group, uint32_t s) {
    if (group.ready[s] != 0) {
        if (leaves_simdgroup(group)) s = pick(group, group.ready_simdgroups);
    } else {
        if (group.at_simd[s] != 0) {
            if (!simdgroup_resolve(group, s)) scheduler_leave(group);
        } else {
            group.ready_simdgroups &= ~(1u << s);
        }
        if (group.ready_simdgroups == 0) {
            if (group.alive == 0) return NO_THREAD;
            if (!barrier_complete(group)) scheduler_leave(group);
        }
        s = pick(group, group.ready_simdgroups);
    }
    return take(group, s);
}

void scheduler_leave(Threadgroup &group) {
    sanitizer::leave_for_good(group.main_stack);
    simt_fiber_switch(&group.suspended[group.current], group.main);
    __builtin_unreachable();
}

}  // namespace simt
