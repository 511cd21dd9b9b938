// Decode attention of whole launches: checked, split over the pool's threads, merged.
#pragma once
#include "simt.h"

namespace native {

// `head_dim`: of the entry points that have it at compile time; 0: the parameters say it. False as
// for native_run.
bool decode(simt_pool *pool, const simt_launch &launch, uint32_t head_dim);

// As for native_estimate.
uint64_t decode_estimate(const simt_launch &launch, uint32_t head_dim);

}  // namespace native
