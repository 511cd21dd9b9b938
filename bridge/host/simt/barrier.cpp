#include "barrier.h"
#include "scheduler.h"

namespace simt {
namespace {

bool all_at_one_site(const Threadgroup &group) {
    uint64_t different = 0;
    for (uint32_t i = 1; i < group.threads; i++)
        different |= group.stop[i] ^ group.stop[0];
    return different == 0;
}

}  // namespace

bool barrier_complete(Threadgroup &group) {
    if (group.alive != group.threads || !all_at_one_site(group)) {
        group.incident.kind = SIMT_FAULT_DIVERGENT_BARRIER;
        return false;
    }
    if (group.leader) {
        const Leader leader = group.leader;
        group.leader = nullptr;
        leader(group.cooperating, group.threads);
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
