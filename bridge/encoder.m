/* The life of an encoder: created, begun, committed or discarded. What it records is in dispatch.m,
 * waiting in wait.m. */
#import "internal.h"
#include <stdlib.h>

fm_status fm_encoder_create(fm_device *device, fm_encoder **out, fm_error *error) {
    fm_encoder *encoder = fm_allocate(sizeof *encoder, error);
    if (!encoder) return FM_ALLOCATION_FAILED;
    encoder->completion = fm_completion_create(error);
    if (!encoder->completion) {
        free(encoder);
        return FM_ALLOCATION_FAILED;
    }
    atomic_init(&encoder->committed, false);
    encoder->device = fm_device_retain(device);
    *out = encoder;
    return FM_OK;
}

/* Counts one more uncommitted command buffer of the device, if there is room: were all of them
 * uncommitted, Metal would wait for ever in place of refusing. */
static bool reserve(fm_device *device) {
    int count = atomic_load(&device->uncommitted);
    do {
        if (count == FM_MAX_COMMAND_BUFFERS) return false;
    } while (!atomic_compare_exchange_weak(&device->uncommitted, &count, count + 1));
    return true;
}

static void unreserve(fm_device *device) {
    atomic_fetch_sub(&device->uncommitted, 1);
}

/* `name` may be nil. */
static fm_status make_commands(fm_encoder *encoder, NSString *name, fm_error *error) {
    id<MTLCommandBuffer> command_buffer = [encoder->device->queue commandBuffer];
    if (!command_buffer)
        return fm_fail(error, FM_ALLOCATION_FAILED, "Metal returned no command buffer");
    id<MTLComputeCommandEncoder> commands =
        [command_buffer computeCommandEncoderWithDispatchType:MTLDispatchTypeConcurrent];
    if (!commands) return fm_fail(error, FM_ALLOCATION_FAILED, "Metal returned no compute encoder");
    if (name) {
        command_buffer.label = name;
        commands.label = name;
    }
    encoder->command_buffer = [command_buffer retain];
    encoder->commands = [commands retain];
    return FM_OK;
}

static fm_status begin(fm_encoder *encoder, const char *label, fm_error *error) {
    NSString *name = label ? fm_string(label, "the label", error) : nil;
    if (label && !name) return FM_INVALID_ARGUMENT;
    if (!reserve(encoder->device))
        return fm_fail(error, FM_INVALID_STATE,
                       "all %d command buffers of the device's queue are in encoders that are not "
                       "committed: commit or release one first",
                       FM_MAX_COMMAND_BUFFERS);
    fm_status status;
    @autoreleasepool { /* drained before the count goes down: only then is Metal's slot free */
        status = make_commands(encoder, name, error);
    }
    if (status != FM_OK) unreserve(encoder->device);
    return status;
}

fm_status fm_encoder_begin(fm_encoder *encoder, const char *label, fm_error *error) {
    if (encoder->commands) return FM_OK;
    if (atomic_load(&encoder->committed))
        return fm_fail(error, FM_INVALID_STATE, "the encoder is committed already");
    @autoreleasepool {
        return begin(encoder, label, error);
    }
}

bool fm_encoder_has_begun(const fm_encoder *encoder) {
    return encoder->commands || atomic_load(&encoder->committed);
}

/* Gives up what begin made; Metal goes on with what is committed. */
static void drop_commands(fm_encoder *encoder) {
    [encoder->commands release];
    [encoder->command_buffer release];
    encoder->commands = nil;
    encoder->command_buffer = nil;
}

/* Runs on a thread of Metal's. Takes over one reference of `completion`. */
static void record(fm_completion *completion, id<MTLCommandBuffer> finished) {
    @autoreleasepool {
        fm_error outcome = {0};
        fm_command_buffer_outcome(finished.status, finished.error, &outcome);
        fm_completion_finish(completion, &outcome, finished.GPUStartTime, finished.GPUEndTime);
    }
    fm_completion_release(completion);
}

/* The event's values rise in the order of commits: a later one must not stand for an earlier. */
static void commit_in_order(fm_encoder *encoder) {
    fm_device *device = encoder->device;
    pthread_mutex_lock(&device->commit_mutex);
    encoder->signal = ++device->last_signal;
    [encoder->command_buffer encodeSignalEvent:device->event value:encoder->signal];
    [encoder->command_buffer commit];
    pthread_mutex_unlock(&device->commit_mutex);
}

fm_status fm_encoder_commit(fm_encoder *encoder, fm_error *error) {
    fm_status status = fm_encoder_begin(encoder, NULL, error);
    if (status != FM_OK) return status;
    fm_completion *completion = fm_completion_retain(encoder->completion);
    @autoreleasepool {
        [encoder->commands endEncoding];
        [encoder->command_buffer addCompletedHandler:^(id<MTLCommandBuffer> finished) {
            record(completion, finished);
        }];
        commit_in_order(encoder);
        drop_commands(encoder);
    }
    unreserve(encoder->device);
    atomic_store(&encoder->committed, true);
    return FM_OK;
}

fm_encoder_state fm_encoder_get_state(const fm_encoder *encoder) {
    if (!atomic_load(&encoder->committed)) return FM_ENCODER_OPEN;
    return fm_completion_get_state(encoder->completion);
}

void fm_encoder_get_gpu_time(const fm_encoder *encoder, double *start, double *end) {
    fm_completion_get_gpu_time(encoder->completion, start, end);
}

static void discard(fm_encoder *encoder) {
    @autoreleasepool {
        [encoder->commands endEncoding];
        drop_commands(encoder);
    }
    unreserve(encoder->device);
}

void fm_encoder_release(fm_encoder *encoder) {
    if (!encoder) return;
    if (encoder->commands) discard(encoder);
    fm_completion_release(encoder->completion);
    fm_device_release(encoder->device);
    free(encoder);
}
