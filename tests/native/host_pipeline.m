#include "host_test.h"
#include "HMDevice.h"

static id<MTLFunction> function_of(id<MTLDevice> owner, NSString *name) {
    id<MTLLibrary> library = [owner newLibraryWithSource:@FAKE_SOURCE options:nil error:NULL];
    id<MTLFunction> function = [library newFunctionWithName:name];
    [library release];
    return [function autorelease];
}

static id<MTLComputePipelineState> build(MTLComputePipelineDescriptor *descriptor,
                                         MTLComputePipelineReflection **reflection,
                                         NSError **error) {
    return [[device newComputePipelineStateWithDescriptor:descriptor
                                                  options:MTLPipelineOptionBindingInfo
                                               reflection:reflection
                                                    error:error] autorelease];
}

static MTLComputePipelineDescriptor *descriptor_of(NSString *name) {
    MTLComputePipelineDescriptor *descriptor = [[MTLComputePipelineDescriptor new] autorelease];
    descriptor.computeFunction = function_of(device, name);
    return descriptor;
}

static void limits_come_from_kernel_device_and_descriptor(void) {
    id<MTLComputePipelineState> plain = host_pipeline(@"add_one"),
                                narrow = host_pipeline(@"narrow");
    CHECK(plain.maxTotalThreadsPerThreadgroup == 1024 && plain.threadExecutionWidth == 32);
    CHECK(plain.staticThreadgroupMemoryLength == 0 && plain.device == device);
    CHECK(narrow.maxTotalThreadsPerThreadgroup == 64);
    CHECK(narrow.staticThreadgroupMemoryLength == 1024);
    MTLComputePipelineDescriptor *descriptor = descriptor_of(@"add_one");
    descriptor.maxTotalThreadsPerThreadgroup = 96;
    descriptor.label = @"rows";
    id<MTLComputePipelineState> labelled = build(descriptor, NULL, NULL);
    CHECK(labelled.maxTotalThreadsPerThreadgroup == 96 && [labelled.label isEqual:@"rows"]);
    [descriptor reset];
    CHECK(!descriptor.computeFunction && descriptor.maxTotalThreadsPerThreadgroup == 0);
}

static void reflection_lists_the_arguments(void) {
    MTLComputePipelineReflection *reflection = nil;
    CHECK(build(descriptor_of(@"shared"), &reflection, NULL) != nil);
    NSArray *bindings = reflection.bindings;
    CHECK(bindings.count == 3);
    id<MTLBufferBinding> values = [bindings objectAtIndex:0], step = [bindings objectAtIndex:1];
    CHECK(values.type == MTLBindingTypeBuffer && values.index == 0 && values.used);
    CHECK(values.access == MTLBindingAccessReadWrite && [values.name isEqual:@"values"]);
    CHECK(step.access == MTLBindingAccessReadOnly && step.index == 1 && !step.used);
    CHECK(step.bufferAlignment == 16 && step.bufferDataSize == 16 && step.argument);
    id<MTLThreadgroupBinding> scratch = [bindings objectAtIndex:2];
    CHECK(scratch.type == MTLBindingTypeThreadgroupMemory && scratch.index == 0);
    CHECK(scratch.threadgroupMemoryAlignment == 8 && scratch.threadgroupMemoryDataSize == 8);
}

static void arguments_are_the_older_name_of_bindings(void) {
    MTLComputePipelineReflection *reflection = nil;
    CHECK(build(descriptor_of(@"shared"), &reflection, NULL) != nil);
    CHECK(reflection.arguments.count == 3);
    MTLArgument *step = [reflection.arguments objectAtIndex:1];
    CHECK(step.type == MTLArgumentTypeBuffer && step.index == 1 && !step.active);
    CHECK(step.access == MTLArgumentAccessReadOnly && step.bufferAlignment == 16);
    MTLArgument *scratch = [reflection.arguments objectAtIndex:2];
    CHECK(scratch.type == MTLArgumentTypeThreadgroupMemory && scratch.active);
}

static void no_reflection_without_the_option(void) {
    MTLComputePipelineReflection *reflection = nil;
    id<MTLComputePipelineState> pipeline =
        [device newComputePipelineStateWithFunction:function_of(device, @"add_one")
                                            options:MTLPipelineOptionNone
                                         reflection:&reflection
                                              error:NULL];
    CHECK(pipeline && !reflection);
    [pipeline release];
}

static void what_cannot_become_a_pipeline_is_an_error(void) {
    NSError *error = nil;
    MTLComputePipelineDescriptor *descriptor = [[MTLComputePipelineDescriptor new] autorelease];
    CHECK(!build(descriptor, NULL, &error));
    CHECK(host_contains(error.localizedDescription, "no compute function"));
    hm_limits limits;
    control->get_limits(&limits);
    limits.max_threadgroup_memory = 512;
    control->set_limits(&limits);
    CHECK(!build(descriptor_of(@"narrow"), NULL, &error));
    CHECK(host_contains(error.localizedDescription, "(1024) exceeds the maximum"));
    control->faults("pipeline");
    CHECK(!build(descriptor_of(@"add_one"), NULL, &error));
    CHECK(host_contains(error.localizedDescription, "internal error"));
}

static void devices_differ_by_their_options(void) {
    const HMDeviceOptions options[] = {{.maxThreads = 256},
                                       {.threads = 1},
                                       {.noTensorAPI = YES},
                                       {.engine = HMEngineSIMT},
                                       {.order = SIMT_RANDOM},
                                       {.order = SIMT_RANDOM, .seed = 1},
                                       {.threads = 1, .maxThreads = 256},
                                       {.timeout = 1},
                                       {.timeout = 2}};
    for (size_t i = 0; i < LENGTH(options); i++) {
        HMDevice *first = HMDeviceCreate(&options[i]), *again = HMDeviceCreate(&options[i]);
        CHECK(first == again && first.registryID != device.registryID);
        for (size_t j = 0; j < i; j++) {
            HMDevice *other = HMDeviceCreate(&options[j]);
            CHECK(other.registryID != first.registryID);
            [other release];
        }
        [again release];
        [first release];
    }
}

static void options_that_mean_the_default_change_no_device(void) {
    const HMDeviceOptions options = {.maxThreads = 1024, .seed = 7};
    HMDevice *same = HMDeviceCreate(&options);
    CHECK(same == device);
    [same release];
    NSArray *all = MTLCopyAllDevices();
    CHECK(all.count == 1 && [all objectAtIndex:0] == device);
    [all release];
    control->faults("device:count=2");
    CHECK(!MTLCreateSystemDefaultDevice());
    all = MTLCopyAllDevices();
    CHECK(all.count == 0);
    [all release];
}

static void lose_queue(HMDevice *owner) {
    [[owner newCommandQueue] release];
}

static void a_device_without_queues_rests_once_another_is_used(void) {
    const HMDeviceOptions options[] = {{.order = SIMT_RANDOM, .seed = 2},
                                       {.order = SIMT_RANDOM, .seed = 3}};
    HMDevice *first = HMDeviceCreate(&options[0]), *second = HMDeviceCreate(&options[1]);
    lose_queue(first);
    lose_queue(first);
    CHECK(fake_rests(first->_pool) == 0); /* nobody else is in need of anything */
    lose_queue(second);
    CHECK(fake_rests(first->_pool) == 1 && fake_rests(second->_pool) == 0);
    id<MTLCommandQueue> held = [second newCommandQueue];
    lose_queue(second);
    lose_queue(first);
    lose_queue(second);
    CHECK(fake_rests(first->_pool) == 1 && fake_rests(second->_pool) == 0);
    [held release];
    CHECK(fake_rests(first->_pool) == 2 && fake_rests(second->_pool) == 0);
    [first release];
    [second release];
}

static void a_device_imitates_smaller_machines(void) {
    const HMDeviceOptions options = {.maxThreads = 256, .noTensorAPI = YES};
    HMDevice *small = HMDeviceCreate(&options);
    id<MTLFunction> function = function_of(small, @"add_one");
    CHECK(!fake_last_request()->tensor_api);
    CHECK(fake_last_request()->language_version == MTLLanguageVersion3_2);
    NSError *error = nil;
    id<MTLComputePipelineState> pipeline = [small newComputePipelineStateWithFunction:function
                                                                                error:&error];
    CHECK(pipeline.maxTotalThreadsPerThreadgroup == 256);
    CHECK(![device newComputePipelineStateWithFunction:function error:&error]);
    CHECK(host_contains(error.localizedDescription, "another device"));
    [pipeline release];
    [small release];
}

int main(void) {
    const host_case cases[] = {
        {"limits come from kernel, device and descriptor",
         limits_come_from_kernel_device_and_descriptor},
        {"reflection lists the arguments", reflection_lists_the_arguments},
        {"arguments are the older name of bindings", arguments_are_the_older_name_of_bindings},
        {"no reflection without the option", no_reflection_without_the_option},
        {"what cannot become a pipeline is an error", what_cannot_become_a_pipeline_is_an_error},
        {"devices differ by their options", devices_differ_by_their_options},
        {"options that mean the default change no device",
         options_that_mean_the_default_change_no_device},
        {"a device without queues rests once another is used",
         a_device_without_queues_rests_once_another_is_used},
        {"a device imitates smaller machines", a_device_imitates_smaller_machines},
    };
    return host_run(cases, LENGTH(cases));
}
