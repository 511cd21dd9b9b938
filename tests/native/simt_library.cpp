// Stands in for the compiler's loader: kernels of the tests declare their `threadgroup` variables
// in a thread-local block of the test program.
#include "simt_library.h"

thread_local unsigned char threadgroup_variables[THREADGROUP_VARIABLE_BYTES];

void *msl_library_threadgroup_block(const msl_library *, size_t *bytes) {
    *bytes = sizeof threadgroup_variables;
    return threadgroup_variables;
}

// The linker's names for the ends of the section.
extern "C" __attribute__((weak)) const char __start_of_source[], __stop_of_source[];

bool msl_library_place(const msl_library *, const void *address, msl_place *place) {
    if (address < __start_of_source || address >= __stop_of_source) return false;
    *place = {"source", 7, true};
    return true;
}

const void *msl_library_image(const msl_library *, size_t *bytes) {
    *bytes = static_cast<size_t>(__stop_of_source - __start_of_source);
    return __start_of_source;
}

size_t msl_library_threadgroup_variables(const msl_library *, const msl_variable **) {
    return 0;
}
