// Which line of its source a faulting kernel was at.
#pragma once
#include "machine_context.h"
#include "msl.h"

namespace simt {

// Of the innermost call that stands in the source: the instruction may belong to the C library, or
// to a function of the shading language. The stack must be as the fault left it; where the kernel
// has destroyed it, the answer is false.
bool fault_place(const msl_library *library, const MachineRegisters &at, msl_place &place);

}  // namespace simt
