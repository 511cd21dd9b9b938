// The compiler, without running it once it is known.
#pragma once
#include "cache.h"
#include "toolchain.h"

namespace msl {

// Asks a compiler what it is once a process, and not at all while the cache has the answer that the
// same file (path, time of change, size) once gave. Throws Failure.
Toolchain known_toolchain(const Cache &cache);

}  // namespace msl
