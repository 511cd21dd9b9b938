// What kernels that were compiled with checks call.
#pragma once
#include "finding.h"

namespace simt {

struct Threadgroup;

void check_access(const void *address, size_t bytes, uint32_t kind, const void *place);
void check_fence(uint32_t scope, uint32_t memory);

// Makes it the threadgroup's incident.
void check_found(Threadgroup &group, const Finding &finding);

}  // namespace simt
