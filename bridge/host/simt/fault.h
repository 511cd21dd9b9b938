// What a kernel did wrong, in words.
#pragma once
#include "stack.h"
#include "threadgroup.h"

namespace simt {

// Of a threadgroup that ended in an incident.
simt_fault fault_of(const Threadgroup &group, const Stacks &stacks, const simt_launch &launch);
simt_fault fault_out_of_memory(const simt_launch &launch);

}  // namespace simt
