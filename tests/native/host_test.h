/* What the tests of host Metal's classes share. A test is a program of cases; after each of them as
 * many objects must be alive as before it, and no more misuses counted than the case expects. */
#ifndef HOST_TEST_H
#define HOST_TEST_H

#import <Metal/Metal.h>
#include "control.h"
#include "host_fakes.h"

#define CHECK(condition) host_check(condition, #condition, __FILE__, __LINE__)
#define LENGTH(array) (sizeof(array) / sizeof *(array))

typedef struct host_case {
    const char *name;
    void (*run)(void); /* inside a pool of its own */
} host_case;

bool host_check(bool holds, const char *text, const char *file, int line);

/* The exit status of the program. */
int host_run(const host_case *cases, size_t count);

/* True when exactly `count` misuses have been counted since the last call or the case's start. */
BOOL host_misuses(long count);

BOOL host_contains(NSString *text, const char *part);

/* Made before the first case. */
extern id<MTLDevice> device;
extern id<MTLCommandQueue> queue;
extern const hm_control *control;

/* Both autoreleased. */
id<MTLComputePipelineState> host_pipeline(NSString *name);
id<MTLBuffer> host_buffer(NSUInteger length);

/* An encoder that is ready for add_one on buffer 0; `buffer` may be nil. */
id<MTLComputeCommandEncoder> host_encoder(id<MTLCommandBuffer> commands, id<MTLBuffer> buffer);

/* Ends, commits and waits; the error (autoreleased), nil without. */
NSError *host_finish(id<MTLCommandBuffer> commands, id<MTLComputeCommandEncoder> encoder);

/* One add_one on the first int of `buffer` must work. */
void host_check_works(id<MTLBuffer> buffer);

#endif
