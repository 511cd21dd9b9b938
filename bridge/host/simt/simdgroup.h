// Operations of a SIMD-group: its lanes publish operands, wait, and read each other's.
#pragma once
#include "threadgroup.h"

namespace simt {

msl_exchange *simdgroup_begin(uint32_t *lane);
void simdgroup_wait(uint64_t site, uint32_t size);

// Completes one of the operations that lanes of SIMD-group `s` wait in, when no lane can go on.
// Lanes at the smallest site take part: those behind are let catch up. A barrier comes after all
// else. False: its lanes do not all wait at one, or some have returned; those that did before it
// are forgiven in the default order, as at a barrier of the threadgroup.
bool simdgroup_resolve(Threadgroup &group, uint32_t s);

}  // namespace simt
