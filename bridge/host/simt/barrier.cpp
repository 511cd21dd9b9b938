#include "barrier.h"
#include "check/checker.h"
#include "scheduler.h"

#include <algorithm>

namespace simt {
namespace {

bool all_at_one_site(const Threadgroup &group) {
    uint64_t different = 0;
    for (uint32_t i = 1; i < group.threads; i++)
        different |= group.stop[i] ^ group.stop[0];
    return different == 0;
}

// Lanes of SIMD-group `s` that wait at the site of `stop`; none where one waits elsewhere.
uint32_t waiting_lanes(const Threadgroup &group, uint32_t s, uint64_t stop) {
    uint32_t lanes = 0;
    const uint32_t first = s * MSL_LANES;
    for (uint32_t i = first; i < std::min(first + MSL_LANES, group.threads); i++) {
        if (group.stop[i] == stop)
            lanes |= 1u << (i - first);
        else if (group.stop[i] != RETURNED)
            return 0;
    }
    return lanes;
}

// A GPU's SIMD-groups meet at a barrier, whichever of their lanes get there: public kernels put
// barriers where one lane of each goes, and the rest returns. The orders that look for mistakes
// insist on every thread, and so does a leader, who needs something of each.
bool simdgroups_meet(Threadgroup &group) {
    if (group.order != SIMT_HIGHEST_FIRST || group.leader) return false;
    const uint64_t stop = *std::find_if(group.stop, group.stop + group.threads,
                                        [](uint64_t other) { return other != RETURNED; });
    uint32_t lanes[MAX_SIMDGROUPS];
    for (uint32_t s = 0; s < group.simdgroups; s++) {
        lanes[s] = waiting_lanes(group, s, stop);
        if (lanes[s] == 0) return false;
    }
    if (group.checker != nullptr) group.checker->barrier_passed();
    scheduler_continue(group, lanes);
    return true;
}

}  // namespace

bool barrier_complete(Threadgroup &group) {
    if (group.alive != group.threads && simdgroups_meet(group)) return true;
    if (group.alive != group.threads || !all_at_one_site(group)) {
        group.incident.kind = SIMT_FAULT_DIVERGENT_BARRIER;
        return false;
    }
    if (group.leader) {
        const Leader leader = group.leader;
        group.leader = nullptr;
        if (group.checker != nullptr) group.checker->act_for_all(true);
        leader(group.cooperating, group.threads);
        if (group.checker != nullptr) group.checker->act_for_all(false);
    } else if (group.checker != nullptr) {
        group.checker->barrier_passed();
    }
    scheduler_start(group);
    return true;
}

void barrier_wait(uint64_t site) {
    Threadgroup &group = *running;
    group.stop[group.current] = stop_at(site, 0);
    scheduler_wait(group);
}

void barrier_cooperate(uint64_t site, void *mine, Leader leader) {
    running->cooperating[running->current] = mine;
    running->leader = leader;
    barrier_wait(site);
}

}  // namespace simt
