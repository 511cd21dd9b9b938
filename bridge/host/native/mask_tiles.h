// The classes of an attention mask's tiles: whole launches, checked and split over the pool's
// threads.
#pragma once
#include "simt.h"

namespace native {

// `tile_rows`: query rows of a tile. False as for native_run.
bool mask_tiles_half(simt_pool *pool, const simt_launch &launch, uint32_t tile_rows);
bool mask_tiles_bfloat(simt_pool *pool, const simt_launch &launch, uint32_t tile_rows);
// As native_estimate has it, of either.
uint64_t mask_tiles_estimate(const simt_launch &launch, uint32_t tile_rows);

}  // namespace native
