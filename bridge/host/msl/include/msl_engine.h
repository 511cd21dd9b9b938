// The engine that runs this library's kernels.
#pragma once

namespace __msl {

static msl_runtime engine;

inline void bind(const msl_runtime *runtime) {
    engine = *runtime;
}

}  // namespace __msl

// The default argument that tells two operations of the source apart: where the call stands.
#define MSL_SITE                                                                                   \
    uint32_t site = __builtin_LINE() << MSL_SITE_COLUMN_BITS |                                     \
                    (__builtin_COLUMN() & ((1u << MSL_SITE_COLUMN_BITS) - 1))
