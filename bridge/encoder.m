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

static fm_status begin(fm_encoder *encoder, const char *label, int64_t timeout_ns,
                       fm_error *error) {
    NSString *name = label ? fm_string(label, "the label", error) : nil;
    if (label && !name) return FM_INVALID_ARGUMENT;
    fm_status status = fm_slots_take(encoder->device->slots, timeout_ns, error);
    if (status != FM_OK) return status;
    @autoreleasepool { /* drained before the slot is given back: only then is Metal's own free */
        status = make_commands(encoder, name, error);
    }
    if (status != FM_OK) fm_slots_discard(encoder->device->slots);
    return status;
}

fm_status fm_encoder_begin(fm_encoder *encoder, const char *label, int64_t timeout_ns,
                           fm_error *error) {
    if (encoder->commands) return FM_OK;
    if (atomic_load(&encoder->committed))
        return fm_fail(error, FM_INVALID_STATE, "the encoder is committed already");
    @autoreleasepool {
        return begin(encoder, label, timeout_ns, error);
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

/* Runs on a thread of Metal's. Takes over one reference of `completion` and of `slots`. */
static void record(fm_completion *completion, fm_slots *slots, id<MTLCommandBuffer> finished) {
    fm_slots_end(slots); /* before waiters are woken: their next command buffer may need it */
    fm_slots_release(slots);
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
    fm_status status = fm_encoder_begin(encoder, NULL, -1, error);
    if (status != FM_OK) return status;
    fm_completion *completion = fm_completion_retain(encoder->completion);
    fm_slots *slots = fm_slots_retain(encoder->device->slots);
    fm_slots_commit(slots);
    @autoreleasepool {
        [encoder->commands endEncoding];
        [encoder->command_buffer addCompletedHandler:^(id<MTLCommandBuffer> finished) {
            record(completion, slots, finished);
        }];
        commit_in_order(encoder);
        drop_commands(encoder);
    }
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
    fm_slots_discard(encoder->device->slots);
}

void fm_encoder_release(fm_encoder *encoder) {
    if (!encoder) return;
    if (encoder->commands) discard(encoder);
    fm_completion_release(encoder->completion);
    fm_device_release(encoder->device);
    free(encoder);
}
