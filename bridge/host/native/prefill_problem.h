// What a launch of a prefill kernel asks for, once it is known to be one that can be served.
#pragma once
#include "prefill_part.h"
#include "simt.h"

namespace native {

// Both families of kernels. False when the launch is not as the kernel's contract says: whoever
// runs the kernel itself shows what happens. `head_dim`: known at compile time, or 0.
bool read_prefill_tensor(const simt_launch &launch, uint32_t head_dim, PrefillProblem &out);
bool read_prefill_simdgroup(const simt_launch &launch, uint32_t head_dim, PrefillProblem &out);

}  // namespace native
