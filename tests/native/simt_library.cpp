// Stands in for the compiler's loader: kernels of the tests declare their `threadgroup` variables
// in a thread-local block of the test program.
#include "simt_library.h"

thread_local unsigned char threadgroup_variables[THREADGROUP_VARIABLE_BYTES];

void *msl_library_threadgroup_block(const msl_library *, size_t *bytes) {
    *bytes = sizeof threadgroup_variables;
    return threadgroup_variables;
}

bool msl_library_place(const msl_library *, const void *, msl_place *) {
    return false;
}
