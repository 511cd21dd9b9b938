#import "internal.h"
#include <inttypes.h>
#include <stdlib.h>

/* Metal asserts on such lengths where it could return nil. */
static fm_status check_length(const fm_device *device, size_t length, fm_error *error) {
    uint64_t maximum = device->info.max_buffer_length;
    if (length == 0) return fm_fail(error, FM_INVALID_ARGUMENT, "Buffer byte length must be > 0");
    if (length > maximum)
        return fm_fail(error, FM_ALLOCATION_FAILED,
                       "%zu bytes are more than the %" PRIu64 " bytes that a buffer of this device "
                       "can have",
                       length, maximum);
    return FM_OK;
}

static fm_status check_pages(const fm_device *device, const void *memory, size_t length,
                             fm_error *error) {
    size_t page = device->info.page_size;
    if ((uintptr_t)memory % page == 0 && length % page == 0) return FM_OK;
    return fm_fail(error, FM_INVALID_ARGUMENT,
                   "memory at %p of %zu bytes is not whole pages of %zu bytes", memory, length,
                   page);
}

/* Takes over `metal`; nil is Metal's refusal. */
static fm_status adopt(fm_buffer *buffer, id<MTLBuffer> metal, void *contents, size_t length,
                       fm_buffer **out, fm_error *error) {
    if (!metal) {
        free(buffer);
        return fm_fail(error, FM_ALLOCATION_FAILED, "Metal returned no buffer of %zu bytes",
                       length);
    }
    buffer->metal = metal;
    buffer->contents = contents;
    buffer->length = length;
    *out = buffer;
    return FM_OK;
}

fm_status fm_buffer_create(fm_device *device, size_t length, fm_buffer **out, fm_error *error) {
    fm_status status = check_length(device, length, error);
    if (status != FM_OK) return status;
    fm_buffer *buffer = fm_allocate(sizeof *buffer, error);
    if (!buffer) return FM_ALLOCATION_FAILED;
    @autoreleasepool {
        /* Metal promises zeros; its hazard tracking orders command buffers that share a buffer. */
        id<MTLBuffer> metal = [device->metal newBufferWithLength:length
                                                         options:MTLResourceStorageModeShared];
        return adopt(buffer, metal, metal.contents, length, out, error);
    }
}

fm_status fm_buffer_wrap(fm_device *device, void *memory, size_t length, fm_release_fn release,
                         void *context, fm_buffer **out, fm_error *error) {
    fm_status status = check_length(device, length, error);
    if (status == FM_OK) status = check_pages(device, memory, length, error);
    if (status != FM_OK) return status;
    fm_buffer *buffer = fm_allocate(sizeof *buffer, error);
    if (!buffer) return FM_ALLOCATION_FAILED;
    @autoreleasepool {
        void (^deallocator)(void *, NSUInteger) = ^(void *pointer, NSUInteger bytes) {
            release(pointer, bytes, context);
        };
        id<MTLBuffer> metal = [device->metal newBufferWithBytesNoCopy:memory
                                                               length:length
                                                              options:MTLResourceStorageModeShared
                                                          deallocator:release ? deallocator : nil];
        return adopt(buffer, metal, memory, length, out, error);
    }
}

void fm_buffer_limit(fm_buffer *buffer, size_t end) {
    fm_system_limit_buffer(buffer->metal, end);
}

void *fm_buffer_contents(const fm_buffer *buffer) {
    return buffer->contents;
}

size_t fm_buffer_length(const fm_buffer *buffer) {
    return buffer->length;
}

fm_status fm_buffer_track(fm_buffer *buffer, fm_error *error) {
    if (!buffer->uses) buffer->uses = fm_use_count_create(error);
    return buffer->uses ? FM_OK : FM_ALLOCATION_FAILED;
}

void fm_buffer_track_with(fm_buffer *buffer, const fm_buffer *other) {
    buffer->uses = fm_use_count_retain(other->uses);
}

bool fm_buffer_is_busy(const fm_buffer *buffer) {
    return buffer->uses && !fm_use_count_is_zero(buffer->uses);
}

void fm_buffer_release(fm_buffer *buffer) {
    if (!buffer) return;
    @autoreleasepool {
        [buffer->metal release];
    }
    fm_use_count_release(buffer->uses);
    free(buffer);
}
