// What a check has found.
#pragma once
#include "access.h"
#include "memory_map.h"

namespace simt {

enum class FindingKind {
    Nothing,
    OutOfBounds,
    OutOfStack,  // on another thread's, or where no variable is
    ReadOnly,
    Unwritten,
    Race,
};

struct Finding {
    FindingKind kind = FindingKind::Nothing;
    msl_access access = MSL_ACCESS_READ;
    uintptr_t address = 0;
    size_t bytes = 0;
    bool has_range = false;
    MemoryRange range = {};  // that the address is in, or next to
    uintptr_t at = 0;        // the first address that is wrong
    Access now;
    // Of a race: the other one.
    msl_access access_before = MSL_ACCESS_READ;
    Access before;
    bool met = false;  // atomics order the two threadgroups, but not these accesses
};

}  // namespace simt
