// The frame in which a suspended fiber's registers lie, for the assembly and for C++.
#pragma once

#if defined(__x86_64__)
#define FRAME_BYTES 64
#define FRAME_MAIN 3    // r12: what simt_fiber_start calls
#define FRAME_RETURN 6  // the return address
#elif defined(__aarch64__)
#define FRAME_BYTES 160
#define FRAME_MAIN 0     // x19
#define FRAME_RETURN 11  // x30
#else
#error "the SIMT engine has no context switch for this processor: add one beside switch_x86_64.S"
#endif
