#include "host_test.h"
#include <string.h>

static const MTLSize ONE = {1, 1, 1};

static id<MTLCommandBuffer> commands;
static id<MTLComputeCommandEncoder> encoder;
static id<MTLBuffer> buffer;

/* Of 16 ints. */
static void begin(void) {
    buffer = host_buffer(64);
    commands = [queue commandBuffer];
    encoder = host_encoder(commands, buffer);
}

static int *values(void) {
    return buffer.contents;
}

static void bytes_are_copied_at_once(void) {
    begin();
    int step = 5;
    [encoder setBytes:&step length:sizeof step atIndex:1];
    step = 7;
    [encoder dispatchThreadgroups:ONE threadsPerThreadgroup:ONE];
    [encoder setBytes:&step length:sizeof step atIndex:1];
    [encoder dispatchThreadgroups:ONE threadsPerThreadgroup:ONE];
    CHECK(!host_finish(commands, encoder) && values()[0] == 12);
    CHECK(fake_last_launch()->buffer_lengths[1] == sizeof step);
    CHECK((uintptr_t)fake_last_launch()->buffers[1] % 64 == 0);
}

static void much_is_recorded(void) {
    char block[4096] = {1};
    begin();
    for (int i = 0; i < 500; i++) {
        [encoder setBytes:block length:sizeof block atIndex:1];
        [encoder dispatchThreadgroups:ONE threadsPerThreadgroup:ONE];
    }
    CHECK(!host_finish(commands, encoder) && values()[0] == 500);
}

static void offsets_move_the_start_of_a_buffer(void) {
    begin();
    [encoder setBuffer:buffer offset:8 atIndex:0];
    [encoder dispatchThreadgroups:ONE threadsPerThreadgroup:ONE];
    [encoder setBufferOffset:60 atIndex:0];
    [encoder dispatchThreadgroups:ONE threadsPerThreadgroup:ONE];
    CHECK(!host_finish(commands, encoder));
    CHECK(values()[2] == 1 && values()[15] == 1 && values()[0] == 0);
    CHECK(fake_last_launch()->buffer_lengths[0] == 4);
}

static void state_stays_from_dispatch_to_dispatch(void) {
    begin();
    for (int i = 0; i < 3; i++) {
        [encoder dispatchThreadgroups:MTLSizeMake(4, 1, 1)
                threadsPerThreadgroup:MTLSizeMake(4, 1, 1)];
        [encoder memoryBarrierWithScope:MTLBarrierScopeBuffers];
    }
    CHECK(!host_finish(commands, encoder) && values()[15] == 3);
}

static void grids_are_counted_in_threads(void) {
    begin();
    [encoder dispatchThreadgroups:MTLSizeMake(2, 1, 2) threadsPerThreadgroup:MTLSizeMake(2, 2, 1)];
    CHECK(!host_finish(commands, encoder));
    const simt_launch *launch = fake_last_launch();
    const uint32_t whole[] = {4, 2, 2}, group[] = {2, 2, 1};
    CHECK(memcmp(launch->threads, whole, sizeof whole) == 0);
    CHECK(memcmp(launch->threads_per_threadgroup, group, sizeof group) == 0);
    begin();
    [encoder dispatchThreads:MTLSizeMake(3, 5, 1) threadsPerThreadgroup:MTLSizeMake(2, 2, 1)];
    CHECK(!host_finish(commands, encoder));
    const uint32_t ragged[] = {3, 5, 1};
    CHECK(memcmp(fake_last_launch()->threads, ragged, sizeof ragged) == 0);
}

static void threadgroup_memory_reaches_the_engine(void) {
    begin();
    [encoder setComputePipelineState:host_pipeline(@"shared")];
    [encoder setThreadgroupMemoryLength:1024 atIndex:0];
    [encoder dispatchThreadgroups:ONE threadsPerThreadgroup:ONE];
    CHECK(!host_finish(commands, encoder));
    CHECK(fake_last_launch()->threadgroup_memory[0] == 1024);
}

static void a_launch_has_what_is_bound_and_nothing_else(void) {
    begin();
    [encoder setComputePipelineState:host_pipeline(@"shared")];
    [encoder setBytes:"1234" length:4 atIndex:30];
    [encoder setThreadgroupMemoryLength:16 atIndex:30];
    [encoder setThreadgroupMemoryLength:32 atIndex:2];
    [encoder dispatchThreadgroups:ONE threadsPerThreadgroup:ONE];
    CHECK(!host_finish(commands, encoder));
    const simt_launch *launch = fake_last_launch();
    CHECK(launch->buffer_lengths[0] == 64 && launch->buffer_lengths[30] == 4);
    CHECK(launch->threadgroup_memory[30] == 16 && launch->threadgroup_memory[2] == 32);
    for (int i = 1; i < 30; i++)
        CHECK(!launch->buffers[i] && launch->buffer_lengths[i] == 0);
    begin();
    [encoder setBytes:"1234" length:4 atIndex:5];
    [encoder setBuffer:nil offset:0 atIndex:5];
    [encoder dispatchThreadgroups:ONE threadsPerThreadgroup:ONE];
    CHECK(!host_finish(commands, encoder));
    launch = fake_last_launch();
    CHECK(launch->buffers[0] && !launch->buffers[5] && launch->buffer_lengths[5] == 0);
    CHECK(launch->threadgroup_memory[30] == 0);
}

static void many_buffers_are_held(void) {
    enum { COUNT = 600 };
    id<MTLBuffer> buffers[COUNT];
    begin();
    for (int i = 0; i < COUNT; i++) {
        buffers[i] = [device newBufferWithLength:64 options:MTLResourceStorageModeShared];
        [encoder setBuffer:buffers[i] offset:0 atIndex:0];
        [encoder dispatchThreadgroups:ONE threadsPerThreadgroup:ONE];
        CHECK([(NSObject *)buffers[i] retainCount] == 2);
    }
    CHECK(!host_finish(commands, encoder));
    for (int i = 0; i < COUNT; i++) {
        CHECK(((const int *)buffers[i].contents)[0] == 1);
        CHECK([(NSObject *)buffers[i] retainCount] == 1);
        [buffers[i] release];
    }
}

static void a_device_gives_its_order_to_every_dispatch(void) {
    begin();
    CHECK(encoder.dispatchType == MTLDispatchTypeConcurrent && encoder.device == device);
    [encoder dispatchThreadgroups:ONE threadsPerThreadgroup:ONE];
    CHECK(!host_finish(commands, encoder));
    CHECK(fake_last_launch()->order == SIMT_HIGHEST_FIRST);
}

static void messages_are_counted(void) {
    begin();
    uint64_t before = control->message_count();
    [encoder setBufferOffset:4 atIndex:0];
    [encoder dispatchThreadgroups:ONE threadsPerThreadgroup:ONE];
    [encoder memoryBarrierWithScope:MTLBarrierScopeBuffers];
    CHECK(control->message_count() == before + 3);
    CHECK(!host_finish(commands, encoder));
    CHECK(control->message_count() == before + 4);
}

/* ---- broken rules: each is misuse, and the command buffer says so when it ends ---- */

static void index_31(void) {
    [encoder setBuffer:buffer offset:0 atIndex:31];
}

static void too_many_bytes(void) {
    char block[4097] = {0};
    [encoder setBytes:block length:sizeof block atIndex:1];
}

static void no_bytes(void) {
    [encoder setBytes:"" length:0 atIndex:1];
}

static void an_offset_at_the_end(void) {
    [encoder setBuffer:buffer offset:64 atIndex:0];
}

static void a_new_offset_beyond_the_end(void) {
    [encoder setBufferOffset:65 atIndex:0];
}

static void an_offset_of_no_buffer(void) {
    [encoder setBufferOffset:0 atIndex:3];
}

static void uneven_threadgroup_memory(void) {
    [encoder setThreadgroupMemoryLength:24 atIndex:0];
}

static void too_much_threadgroup_memory(void) {
    [encoder setComputePipelineState:host_pipeline(@"shared")];
    [encoder setThreadgroupMemoryLength:device.maxThreadgroupMemoryLength + 16 atIndex:0];
    [encoder dispatchThreadgroups:ONE threadsPerThreadgroup:ONE];
}

static void too_many_threads(void) {
    [encoder setComputePipelineState:host_pipeline(@"narrow")];
    [encoder dispatchThreadgroups:ONE threadsPerThreadgroup:MTLSizeMake(13, 5, 1)];
}

static void an_empty_grid(void) {
    [encoder dispatchThreadgroups:MTLSizeMake(1, 0, 1) threadsPerThreadgroup:ONE];
}

static void empty_threadgroups(void) {
    [encoder dispatchThreads:ONE threadsPerThreadgroup:MTLSizeMake(1, 1, 0)];
}

static void a_grid_beyond_32_bits(void) {
    [encoder dispatchThreadgroups:MTLSizeMake(~0ul / 2, 1, 1)
            threadsPerThreadgroup:MTLSizeMake(4, 1, 1)];
}

static void nothing_bound(void) {
    [encoder setBuffer:nil offset:0 atIndex:0];
    [encoder dispatchThreadgroups:ONE threadsPerThreadgroup:ONE];
}

static void no_pipeline(void) {
    [encoder endEncoding];
    encoder = [commands computeCommandEncoder];
    [encoder dispatchThreadgroups:ONE threadsPerThreadgroup:ONE];
}

static void broken_rules_fail_the_command_buffer(void) {
    static const struct {
        void (*breach)(void);
        const char *text;
    } breaches[] = {
        {index_31, "index 31 is over 30"},
        {too_many_bytes, "4097 bytes, must be 1 to 4096"},
        {no_bytes, "0 bytes"},
        {an_offset_at_the_end, "offset 64 is beyond the buffer of 64 bytes at index 0"},
        {a_new_offset_beyond_the_end, "offset 65"},
        {an_offset_of_no_buffer, "no buffer is bound at index 3"},
        {uneven_threadgroup_memory, "24 bytes is not a multiple of 16"},
        {too_much_threadgroup_memory, "32784 bytes of threadgroup memory"},
        {too_many_threads, "65 threads per threadgroup are more than the 64"},
        {an_empty_grid, "validation: an empty grid, 1 x 0 x 1 threads: none of the three may be 0"},
        {empty_threadgroups,
         "validation: empty threadgroups, 1 x 1 x 0 threads: none of the three may be 0"},
        {a_grid_beyond_32_bits, "dimension 0"},
        {nothing_bound, "nothing is bound to buffer index 0"},
        {no_pipeline, "a dispatch without a compute pipeline state"},
    };
    for (size_t i = 0; i < LENGTH(breaches); i++) {
        begin();
        [encoder dispatchThreadgroups:ONE threadsPerThreadgroup:ONE];
        breaches[i].breach();
        CHECK(host_misuses(1));
        NSError *error = host_finish(commands, encoder);
        CHECK(error.code == MTLCommandBufferErrorInternal);
        CHECK(host_contains(error.localizedDescription, breaches[i].text));
        CHECK(values()[0] == 0); /* nothing of it runs */
        host_check_works(buffer);
    }
}

static void nothing_is_recorded_after_end_encoding(void) {
    begin();
    [encoder endEncoding];
    [encoder setBytes:"1234" length:4 atIndex:1];
    [encoder dispatchThreadgroups:ONE threadsPerThreadgroup:ONE];
    [encoder endEncoding];
    CHECK(host_misuses(3));
    [commands commit];
    [commands waitUntilCompleted];
    CHECK(!commands.error && values()[0] == 0);
}

static void an_encoder_dropped_half_way_is_misuse(void) {
    @autoreleasepool {
        begin();
        [encoder dispatchThreadgroups:ONE threadsPerThreadgroup:ONE];
    }
    CHECK(host_misuses(1));
}

int main(void) {
    const host_case cases[] = {
        {"bytes are copied at once", bytes_are_copied_at_once},
        {"much is recorded", much_is_recorded},
        {"offsets move the start of a buffer", offsets_move_the_start_of_a_buffer},
        {"state stays from dispatch to dispatch", state_stays_from_dispatch_to_dispatch},
        {"grids are counted in threads", grids_are_counted_in_threads},
        {"threadgroup memory reaches the engine", threadgroup_memory_reaches_the_engine},
        {"a launch has what is bound and nothing else",
         a_launch_has_what_is_bound_and_nothing_else},
        {"many buffers are held", many_buffers_are_held},
        {"a device gives its order to every dispatch", a_device_gives_its_order_to_every_dispatch},
        {"messages are counted", messages_are_counted},
        {"broken rules fail the command buffer", broken_rules_fail_the_command_buffer},
        {"nothing is recorded after endEncoding", nothing_is_recorded_after_end_encoding},
        {"an encoder dropped half-way is misuse", an_encoder_dropped_half_way_is_misuse},
    };
    return host_run(cases, LENGTH(cases));
}
