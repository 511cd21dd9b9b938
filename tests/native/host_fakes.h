/* Stand-ins for the MSL compiler and the engines, linked into the tests of host Metal's
 * classes: kernels are C functions, so that these tests need no compiler. */
#ifndef HOST_FAKES_H
#define HOST_FAKES_H

#include "simt.h"

/* A source text is compiled when it has no "#error". It holds the kernels below that it names;
 * all of them take buffers 0 (writable) and 1. Function constants do not change them.
 * The library of a path with "constants" in it was compiled with 2=true,400=32.
 *   add_one     adds buffer 1's first int (1 when none is bound) to each int of buffer 0
 *   page_fault  ends with SIMT_FAULT_PAGE
 *   divergent   ends with SIMT_FAULT_DIVERGENT_BARRIER
 *   narrow      add_one for at most 64 threads per threadgroup, with 1,024 static bytes
 *   twin        add_one, which the native engine has, too: it adds FAKE_NATIVE_STEP instead, and
 *               serves grids of one thread
 *   shared      takes [[threadgroup(0)]] */
#define FAKE_SOURCE "add_one page_fault divergent narrow twin shared"
#define FAKE_DIGEST "of every source"
enum { FAKE_NATIVE_STEP = 100 };

/* The last request to the fake compiler. */
typedef struct fake_request {
    uint32_t language_version;
    msl_math_mode math_mode;
    bool tensor_api;
    char macros[128];    /* "NAME=VALUE " each */
    char constants[256]; /* "INDEX=TEXT " each */
    uint64_t compilations;
    long live_libraries;
} fake_request;

const fake_request *fake_last_request(void);

/* The last launch of the fake engine, without its pointers' targets. */
const simt_launch *fake_last_launch(void);

/* How often the pool was told to rest. */
int fake_rests(const simt_pool *pool);

#endif
