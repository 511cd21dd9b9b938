// The engine that runs this library's kernels.
#pragma once

namespace __msl {

static msl_runtime engine;

inline void bind(const msl_runtime *runtime) {
    engine = *runtime;
}

}  // namespace __msl

// The default argument that tells two operations of the source apart: where the call stands. A
// kernel that macros make stands in one line of any length.
#define MSL_SITE                                                                                   \
    uint64_t site = uint64_t(__builtin_LINE()) << MSL_SITE_COLUMN_BITS | __builtin_COLUMN()
// Of what cannot have such an argument.
#define MSL_LAST_SITE ((uint64_t(1) << MSL_SITE_BITS) - 2)
