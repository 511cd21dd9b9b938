// threadgroup_barrier, and meetings of all threads at which one acts for all.
#pragma once
#include "threadgroup.h"

namespace simt {

void barrier_wait(uint64_t site);
void barrier_cooperate(uint64_t site, void *mine, Leader leader);

// Lets all threads go on when no thread of the threadgroup can, and none waits in a SIMD-group
// operation. False: they do not wait for the same barrier, or some have returned.
bool barrier_complete(Threadgroup &group);

}  // namespace simt
