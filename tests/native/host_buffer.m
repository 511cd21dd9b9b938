#include "host_test.h"
#include <stdlib.h>
#include <string.h>

enum { PAGE = 16384 };

static BOOL is_zero(const char *bytes, size_t length) {
    for (size_t i = 0; i < length; i++)
        if (bytes[i]) return NO;
    return YES;
}

static void new_buffers_are_zero_and_start_on_a_page(void) {
    static const NSUInteger lengths[] = {1, 3, PAGE - 1, PAGE, PAGE + 1, 5 * PAGE + 7};
    for (size_t i = 0; i < LENGTH(lengths); i++) {
        id<MTLBuffer> buffer = host_buffer(lengths[i]);
        CHECK(buffer.length == lengths[i] && (uintptr_t)buffer.contents % PAGE == 0);
        CHECK(is_zero(buffer.contents, lengths[i]));
        memset(buffer.contents, 1, lengths[i]);
    }
}

static void memory_that_is_reused_is_zero_again(void) {
    for (int i = 0; i < 10; i++)
        @autoreleasepool {
            id<MTLBuffer> buffer = host_buffer(PAGE);
            CHECK(is_zero(buffer.contents, PAGE));
            memset(buffer.contents, 0xff, PAGE);
        }
}

static void a_length_of_zero_is_refused(void) {
    CHECK(![device newBufferWithLength:0 options:MTLResourceStorageModeShared]);
}

static void limits_refuse_buffers(void) {
    hm_limits limits;
    control->get_limits(&limits);
    NSUInteger taken = device.currentAllocatedSize;
    limits.max_buffer_length = 2 * PAGE;
    limits.budget = taken + 3 * PAGE;
    control->set_limits(&limits);
    CHECK(device.maxBufferLength == 2 * PAGE);
    CHECK(![device newBufferWithLength:2 * PAGE + 1 options:MTLResourceStorageModeShared]);
    id<MTLBuffer> large = [device newBufferWithLength:2 * PAGE
                                              options:MTLResourceStorageModeShared];
    CHECK(large && device.currentAllocatedSize == taken + 2 * PAGE);
    CHECK(![device newBufferWithLength:2 * PAGE options:MTLResourceStorageModeShared]);
    [large release];
    CHECK(device.currentAllocatedSize == taken);
    host_buffer(2 * PAGE);
}

static void armed_faults_refuse_buffers(void) {
    control->faults("buffer:after=1:count=2");
    CHECK(host_buffer(8) != nil);
    CHECK(![device newBufferWithLength:8 options:MTLResourceStorageModeShared]);
    CHECK(![device newBufferWithLength:8 options:MTLResourceStorageModeShared]);
    CHECK(host_buffer(8) != nil);
}

static void private_buffers_show_no_contents(void) {
    id<MTLBuffer> buffer = [[device newBufferWithLength:8
                                                options:MTLResourceStorageModePrivate] autorelease];
    CHECK(buffer && !buffer.contents && buffer.storageMode == MTLStorageModePrivate);
}

static void properties_are_what_was_asked_for(void) {
    MTLResourceOptions options =
        MTLResourceStorageModeShared | MTLResourceHazardTrackingModeUntracked;
    id<MTLBuffer> buffer = [[device newBufferWithLength:8 options:options] autorelease];
    CHECK(buffer.resourceOptions == options && buffer.storageMode == MTLStorageModeShared);
    CHECK(buffer.device == device && !buffer.label);
    buffer.label = @"keys";
    CHECK([buffer.label isEqual:@"keys"]);
}

/* ---- without copying ---- */

static int calls;
static void *called_with;
static NSUInteger called_length;

static id<MTLBuffer> wrap(void *memory, NSUInteger length) {
    calls = 0;
    return [device newBufferWithBytesNoCopy:memory
                                     length:length
                                    options:MTLResourceStorageModeShared
                                deallocator:^(void *pointer, NSUInteger bytes) {
                                    calls++;
                                    called_with = pointer;
                                    called_length = bytes;
                                }];
}

static void wrapped_memory_is_used_in_place(void) {
    int *memory = aligned_alloc(PAGE, PAGE);
    memory[0] = 41;
    id<MTLBuffer> buffer = wrap(memory, PAGE);
    CHECK(buffer.contents == memory && buffer.length == PAGE);
    host_check_works(buffer);
    CHECK(memory[0] == 42 && calls == 0);
    [buffer release];
    CHECK(calls == 1 && called_with == memory && called_length == PAGE);
    free(memory);
}

static void memory_that_is_not_whole_pages_is_not_wrapped(void) {
    char *memory = aligned_alloc(PAGE, 2 * PAGE);
    CHECK(!wrap(memory + 64, PAGE) && !wrap(memory, PAGE - 1) && !wrap(memory, 0));
    CHECK(!wrap(NULL, PAGE));
    control->faults("nocopy");
    CHECK(!wrap(memory, PAGE) && calls == 0);
    free(memory);
}

static void wrapped_memory_outlives_the_work_on_it(void) {
    int *memory = aligned_alloc(PAGE, PAGE);
    id<MTLCommandBuffer> commands;
    memory[0] = 0;
    @autoreleasepool {
        id<MTLBuffer> buffer = wrap(memory, PAGE);
        commands = [[queue commandBuffer] retain];
        id<MTLComputeCommandEncoder> encoder = host_encoder(commands, buffer);
        [buffer release];
        [encoder dispatchThreadgroups:MTLSizeMake(1, 1, 1)
                threadsPerThreadgroup:MTLSizeMake(1, 1, 1)];
        [encoder endEncoding];
    }
    CHECK(calls == 0);
    [commands commit];
    [commands waitUntilCompleted];
    CHECK(memory[0] == 1 && calls == 1);
    [commands release];
    free(memory);
}

static void wrapped_memory_is_given_back_when_work_is_discarded(void) {
    void *memory = aligned_alloc(PAGE, PAGE);
    @autoreleasepool {
        id<MTLBuffer> buffer = wrap(memory, PAGE);
        [host_encoder([queue commandBuffer], buffer) endEncoding];
        [buffer release];
    }
    CHECK(calls == 1);
    free(memory);
}

int main(void) {
    const host_case cases[] = {
        {"new buffers are zero and start on a page", new_buffers_are_zero_and_start_on_a_page},
        {"memory that is reused is zero again", memory_that_is_reused_is_zero_again},
        {"a length of zero is refused", a_length_of_zero_is_refused},
        {"limits refuse buffers", limits_refuse_buffers},
        {"armed faults refuse buffers", armed_faults_refuse_buffers},
        {"private buffers show no contents", private_buffers_show_no_contents},
        {"properties are what was asked for", properties_are_what_was_asked_for},
        {"wrapped memory is used in place", wrapped_memory_is_used_in_place},
        {"memory that is not whole pages is not wrapped",
         memory_that_is_not_whole_pages_is_not_wrapped},
        {"wrapped memory outlives the work on it", wrapped_memory_outlives_the_work_on_it},
        {"wrapped memory is given back when work is discarded",
         wrapped_memory_is_given_back_when_work_is_discarded},
    };
    return host_run(cases, LENGTH(cases));
}
