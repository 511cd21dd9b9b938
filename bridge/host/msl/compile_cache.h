// Compiled kernels by what they were compiled from.
#pragma once
#include "library.h"

namespace msl {

// From the cache, or compiled now. Throws Failure.
msl_library *find_or_compile(const msl_request &request);
// Likewise for msl_check.
msl_library *find_or_check(const msl_request &request);

// Runs of the compiler since the process started.
uint64_t compilations();

}  // namespace msl
