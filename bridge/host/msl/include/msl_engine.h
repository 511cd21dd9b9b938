// The engine that runs this library's kernels.
#pragma once

// Of what the headers do on behalf of the engine, or tell checks of in another way.
#ifdef __MSL_MEMORY_CHECKS
#define MSL_UNCHECKED __attribute__((no_sanitize("kernel-address")))
#else
#define MSL_UNCHECKED
#endif

namespace __msl {

static msl_runtime engine;

MSL_UNCHECKED inline void bind(const msl_runtime *runtime) {
    engine = *runtime;
}

// For a text, to which `thread` is a keyword.
inline const msl_thread *running_thread() {
    return engine.thread();
}

}  // namespace __msl

// The default argument that tells two operations of the source apart: where the call stands. A
// kernel that macros make stands in one line of any length.
#define MSL_SITE                                                                                   \
    uint64_t site = uint64_t(__builtin_LINE()) << MSL_SITE_COLUMN_BITS | __builtin_COLUMN()
// Of what cannot have such an argument.
#define MSL_LAST_SITE ((uint64_t(1) << MSL_SITE_BITS) - 2)
