/* Which engine runs what: the shipped functions' equivalents, or the function itself. */
#include "host_test.h"
#include <pthread.h>
#include "HMDevice.h"

static const MTLSize ONE = {1, 1, 1}, TWO = {2, 1, 1};

/* Autoreleased, as is all that these helpers return. */
static id<MTLDevice> device_with(HMEngine engine) {
    const HMDeviceOptions options = {.engine = engine};
    return [HMDeviceCreate(&options) autorelease];
}

/* `macros` may be nil. */
static id<MTLFunction> function_of(id<MTLDevice> owner, NSString *name, NSDictionary *macros,
                                   MTLFunctionConstantValues *constants) {
    MTLCompileOptions *options = [[MTLCompileOptions new] autorelease];
    if (macros) options.preprocessorMacros = macros;
    id<MTLLibrary> library = [[owner newLibraryWithSource:@FAKE_SOURCE options:options
                                                    error:NULL] autorelease];
    return [[library newFunctionWithName:name constantValues:constants error:NULL] autorelease];
}

static id<MTLFunction> plain_function(HMEngine engine, NSString *name) {
    MTLFunctionConstantValues *none = [[MTLFunctionConstantValues new] autorelease];
    return function_of(device_with(engine), name, nil, none);
}

/* What a dispatch of the function over `grid` adds to the first int of a buffer. */
static int step_of(id<MTLFunction> function, MTLSize grid) {
    id<MTLDevice> owner = function.device;
    id<MTLComputePipelineState> pipeline =
        [[owner newComputePipelineStateWithFunction:function error:NULL] autorelease];
    id<MTLBuffer> buffer = [[owner newBufferWithLength:64
                                               options:MTLResourceStorageModeShared] autorelease];
    id<MTLCommandQueue> own = [[owner newCommandQueue] autorelease];
    id<MTLCommandBuffer> commands = [own commandBuffer];
    id<MTLComputeCommandEncoder> encoder = [commands computeCommandEncoder];
    [encoder setComputePipelineState:pipeline];
    [encoder setBuffer:buffer offset:0 atIndex:0];
    [encoder dispatchThreadgroups:grid threadsPerThreadgroup:ONE];
    CHECK(!host_finish(commands, encoder));
    return *(int *)buffer.contents;
}

static void an_equivalent_runs_in_place_of_the_function(void) {
    CHECK(step_of(plain_function(HMEngineAuto, @"twin"), ONE) == FAKE_NATIVE_STEP);
    CHECK(step_of(plain_function(HMEngineNative, @"twin"), ONE) == FAKE_NATIVE_STEP);
}

static void other_functions_run_themselves(void) {
    CHECK(step_of(plain_function(HMEngineAuto, @"add_one"), ONE) == 1);
}

static void the_simt_engine_takes_no_equivalent(void) {
    CHECK(step_of(plain_function(HMEngineSIMT, @"twin"), ONE) == 1);
}

static void a_launch_that_is_not_served_runs_the_function(void) {
    CHECK(step_of(plain_function(HMEngineAuto, @"twin"), TWO) == 1);
    CHECK(step_of(plain_function(HMEngineNative, @"twin"), TWO) == 1);
}

static void what_was_compiled_with_more_than_its_text_has_no_equivalent(void) {
    id<MTLDevice> owner = device_with(HMEngineAuto);
    id<NSCopying> names[] = {@"WIDE"};
    id values[] = {@"1"};
    NSDictionary *macros = [NSDictionary dictionaryWithObjects:values forKeys:names count:1];
    MTLFunctionConstantValues *constants = [[MTLFunctionConstantValues new] autorelease];
    CHECK(step_of(function_of(owner, @"twin", macros, constants), ONE) == 1);
    const bool on = true;
    [constants setConstantValue:&on type:MTLDataTypeBool atIndex:0];
    CHECK(step_of(function_of(owner, @"twin", nil, constants), ONE) == 1);
}

static void the_native_engine_refuses_what_it_has_no_equivalent_of(void) {
    NSError *error = nil;
    id<MTLFunction> function = plain_function(HMEngineNative, @"add_one");
    CHECK(![function.device newComputePipelineStateWithFunction:function error:&error]);
    CHECK(error.code == MTLLibraryErrorUnsupported);
    CHECK([error.domain isEqual:MTLLibraryErrorDomain]);
    CHECK(host_contains(error.localizedDescription, "add_one"));
    CHECK(host_contains(error.localizedDescription, "\"auto\""));
}

/* A command buffer that adds to `buffer`, ready to be committed. */
static id<MTLCommandBuffer> commands_for(NSString *name, id<MTLBuffer> buffer) {
    id<MTLComputePipelineState> pipeline = host_pipeline(name);
    id<MTLCommandBuffer> commands = [queue commandBuffer];
    id<MTLComputeCommandEncoder> encoder = [commands computeCommandEncoder];
    [encoder setComputePipelineState:pipeline];
    [encoder setBuffer:buffer offset:0 atIndex:0];
    [encoder dispatchThreadgroups:ONE threadsPerThreadgroup:ONE];
    [encoder endEncoding];
    return commands;
}

static void what_is_brief_is_done_when_commit_returns(void) {
    id<MTLBuffer> buffer = host_buffer(64);
    id<MTLCommandBuffer> commands = commands_for(@"twin", buffer);
    __block BOOL isHere = NO;
    pthread_t here = pthread_self();
    [commands addCompletedHandler:^(id<MTLCommandBuffer> done) {
        CHECK(done.status == MTLCommandBufferStatusCompleted);
        isHere = pthread_equal(here, pthread_self()) != 0;
    }];
    [commands commit];
    CHECK(commands.status == MTLCommandBufferStatusCompleted && isHere);
    CHECK(*(int *)buffer.contents == FAKE_NATIVE_STEP);
    [commands waitUntilCompleted];
}

static void what_is_brief_waits_for_what_was_committed_before(void) {
    id<MTLSharedEvent> event = [[device newSharedEvent] autorelease];
    id<MTLBuffer> buffer = host_buffer(64);
    id<MTLCommandBuffer> held = [queue commandBuffer];
    [held encodeWaitForEvent:event value:1];
    [held commit];
    id<MTLCommandBuffer> commands = commands_for(@"twin", buffer);
    [commands commit];
    CHECK(commands.status < MTLCommandBufferStatusCompleted);
    CHECK(*(int *)buffer.contents == 0);
    event.signaledValue = 1;
    [commands waitUntilCompleted];
    CHECK(*(int *)buffer.contents == FAKE_NATIVE_STEP);
}

static void handlers_of_what_is_brief_may_commit(void) {
    id<MTLBuffer> buffer = host_buffer(64);
    id<MTLCommandBuffer> first = commands_for(@"twin", buffer);
    id<MTLCommandBuffer> second = commands_for(@"twin", buffer);
    [first addCompletedHandler:^(id<MTLCommandBuffer> done) {
        (void)done;
        [second commit];
    }];
    [first commit];
    [second waitUntilCompleted];
    CHECK(*(int *)buffer.contents == 2 * FAKE_NATIVE_STEP);
}

int main(void) {
    const host_case cases[] = {
        {"an equivalent runs in place of the function",
         an_equivalent_runs_in_place_of_the_function},
        {"other functions run themselves", other_functions_run_themselves},
        {"the SIMT engine takes no equivalent", the_simt_engine_takes_no_equivalent},
        {"a launch that is not served runs the function",
         a_launch_that_is_not_served_runs_the_function},
        {"what was compiled with more than its text has no equivalent",
         what_was_compiled_with_more_than_its_text_has_no_equivalent},
        {"the native engine refuses what it has no equivalent of",
         the_native_engine_refuses_what_it_has_no_equivalent_of},
        {"what is brief is done when commit returns", what_is_brief_is_done_when_commit_returns},
        {"what is brief waits for what was committed before",
         what_is_brief_waits_for_what_was_committed_before},
        {"handlers of what is brief may commit", handlers_of_what_is_brief_may_commit},
    };
    return host_run(cases, LENGTH(cases));
}
