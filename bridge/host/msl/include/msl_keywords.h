// Words of MSL that C++ does not know. Included behind every other header: none of them may use
// these words after this.
#pragma once

#define kernel
#define device
#define constant const
#define thread
#define threadgroup
// One threadgroup runs on one OS thread: exactly the storage of a `threadgroup` variable.
#define __msl_tgvar static thread_local
#define __msl_tgstatic static thread_local
#define coherent(SCOPE)
// Metal looks into none.
#define assert(...) ((void)0)
// Functions become part of their kernel, as on a GPU: their indices are checked there.
#define noinline unused
#define METAL_FUNC inline __attribute__((always_inline))
