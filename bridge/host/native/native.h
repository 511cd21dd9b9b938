/* The native engine of host Metal: hand-vectorised equivalents of the shipped kernels, on the
 * threads of a SIMT pool. No Objective-C, no Python. */
#ifndef NATIVE_H
#define NATIVE_H

#include "simt.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct native_kernel native_kernel;

/* The equivalent of the function `name` of the MSL text with this SHA-256 (in hex), compiled with
 * these function constants (as msl_library_constants has them); NULL: none. */
const native_kernel *native_find(const char *name, const char *source_digest,
                                 const char *constants);

/* Runs a launch whose kernel `kernel` is the equivalent of. False when it does not serve it:
 * another grid than the kernel's contract names, buffers shorter than the parameters say, no
 * memory, memory that is not there. Outputs may have been written; simt_run does the launch, or
 * says what is wrong with it. */
bool native_run(const native_kernel *kernel, simt_pool *pool, const simt_launch *launch);

/* About how long native_run takes on one thread, in nanoseconds; UINT64_MAX: it does not serve the
 * launch. */
uint64_t native_estimate(const native_kernel *kernel, const simt_launch *launch);

/* For benchmarks, what this CPU does at most at the level of instructions in use: f32
 * multiply-adds, in GFLOP/s, and reading this memory again and again, in GB/s. 0: no memory, or too
 * little to share out. */
double native_multiply_adds(uint32_t threads);
double native_read_rate(const void *memory, size_t bytes, uint32_t threads);

#ifdef __cplusplus
}
#endif
#endif
