// Prefill attention of whole launches: checked, and split over the pool's threads.
#pragma once
#include "simt.h"

namespace native {

// Of both families of kernels. `head_dim`: of the entry points that have it at compile time; 0: the
// parameters say it. False as for native_run.
bool prefill_tensor(simt_pool *pool, const simt_launch &launch, uint32_t head_dim);
bool prefill_simdgroup(simt_pool *pool, const simt_launch &launch, uint32_t head_dim);
// As native_estimate has it.
uint64_t prefill_tensor_estimate(const simt_launch &launch, uint32_t head_dim);
uint64_t prefill_simdgroup_estimate(const simt_launch &launch, uint32_t head_dim);

}  // namespace native
