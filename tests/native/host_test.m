#include "host_test.h"
#include <stdio.h>
#include <string.h>
#include <unistd.h>

id<MTLDevice> device;
id<MTLCommandQueue> queue;
const hm_control *control;

static int failures;
static long known_misuses;

bool host_check(bool holds, const char *text, const char *file, int line) {
    if (!holds) {
        failures++;
        fprintf(stderr, "%s:%d: not so: %s\n", file, line, text);
    }
    return holds;
}

static long misuses(void) {
    hm_diagnostics diagnostics;
    control->get_diagnostics(&diagnostics);
    return diagnostics.misuses;
}

BOOL host_misuses(long count) {
    long before = known_misuses;
    known_misuses = misuses();
    return known_misuses - before == count;
}

BOOL host_contains(NSString *text, const char *part) {
    BOOL found = text && strstr(text.UTF8String, part);
    if (!found)
        fprintf(stderr, "\"%s\" does not say \"%s\"\n", text ? text.UTF8String : "nil", part);
    return found;
}

static void run_case(const host_case *test) {
    known_misuses = misuses();
    long before = control->live_objects(NULL);
    @autoreleasepool {
        test->run();
        control->faults(NULL);
        control->set_limits(NULL);
    }
    CHECK(control->quiesce(5000));
    CHECK(host_misuses(0));
    if (!CHECK(control->live_objects(NULL) == before)) control->dump_live_objects();
}

int host_run(const host_case *cases, size_t count) {
    alarm(60); /* a deadlock fails, too */
    control = hm_get_control();
    device = MTLCreateSystemDefaultDevice();
    queue = [device newCommandQueue];
    for (size_t i = 0; i < count; i++) {
        int before = failures;
        run_case(&cases[i]);
        printf("%s: %s\n", failures == before ? "ok" : "FAILED", cases[i].name);
    }
    [queue release];
    CHECK(control->live_objects(NULL) == 0);
    [device release];
    return failures != 0;
}

id<MTLComputePipelineState> host_pipeline(NSString *name) {
    NSError *error = nil;
    id<MTLLibrary> library = [device newLibraryWithSource:@FAKE_SOURCE options:nil error:&error];
    id<MTLFunction> function = [library newFunctionWithName:name];
    id<MTLComputePipelineState> pipeline = [device newComputePipelineStateWithFunction:function
                                                                                 error:&error];
    CHECK(pipeline && !error);
    [function release];
    [library release];
    return [pipeline autorelease];
}

id<MTLBuffer> host_buffer(NSUInteger length) {
    id<MTLBuffer> buffer = [device newBufferWithLength:length options:MTLResourceStorageModeShared];
    CHECK(buffer != nil);
    return [buffer autorelease];
}

id<MTLComputeCommandEncoder> host_encoder(id<MTLCommandBuffer> commands, id<MTLBuffer> buffer) {
    id<MTLComputeCommandEncoder> encoder =
        [commands computeCommandEncoderWithDispatchType:MTLDispatchTypeConcurrent];
    CHECK(encoder != nil);
    [encoder setComputePipelineState:host_pipeline(@"add_one")];
    if (buffer) [encoder setBuffer:buffer offset:0 atIndex:0];
    return encoder;
}

NSError *host_finish(id<MTLCommandBuffer> commands, id<MTLComputeCommandEncoder> encoder) {
    [encoder endEncoding];
    [commands commit];
    [commands waitUntilCompleted];
    return commands.error;
}

void host_check_works(id<MTLBuffer> buffer) {
    int *values = buffer.contents, before = values[0];
    id<MTLCommandBuffer> commands = [queue commandBuffer];
    id<MTLComputeCommandEncoder> encoder = host_encoder(commands, buffer);
    [encoder dispatchThreadgroups:MTLSizeMake(1, 1, 1) threadsPerThreadgroup:MTLSizeMake(1, 1, 1)];
    CHECK(!host_finish(commands, encoder));
    CHECK(commands.status == MTLCommandBufferStatusCompleted);
    CHECK(values[0] == before + 1);
}
