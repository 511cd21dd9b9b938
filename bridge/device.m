#import "internal.h"
#include <stdio.h>
#include <stdlib.h>

static void describe(id<MTLDevice> metal, fm_device_info *out) {
    fm_system_device_describe(metal, out);
    out->registry_id = metal.registryID;
    out->max_buffer_length = metal.maxBufferLength;
    out->max_threadgroup_memory = metal.maxThreadgroupMemoryLength;
    out->max_threads_per_threadgroup = metal.maxThreadsPerThreadgroup.width;
    out->unified_memory = metal.hasUnifiedMemory;
    snprintf(out->name, sizeof out->name, "%s", metal.name.UTF8String);
}

/* Fills `device`; what it holds after a failure is released with it. */
static fm_status open_device(fm_device *device, const fm_device_options *options, fm_error *error) {
    device->slots = fm_slots_create(error);
    if (!device->slots) return error->status;
    device->metal = fm_system_device(options, error);
    if (!device->metal) return error->status;
    device->queue = [device->metal newCommandQueueWithMaxCommandBufferCount:FM_MAX_COMMAND_BUFFERS];
    if (!device->queue)
        return fm_fail(error, FM_ALLOCATION_FAILED, "Metal returned no command queue");
    device->queue.label = @"flashmetal";
    device->event = [device->metal newSharedEvent];
    if (!device->event)
        return fm_fail(error, FM_ALLOCATION_FAILED, "Metal returned no shared event");
    describe(device->metal, &device->info);
    return FM_OK;
}

fm_status fm_device_create(const fm_device_options *options, fm_device **out, fm_error *error) {
    fm_error unwanted = {0};
    fm_device *device = fm_allocate(sizeof *device, error);
    if (!device) return FM_ALLOCATION_FAILED;
    atomic_init(&device->references, 1);
    if (pthread_mutex_init(&device->commit_mutex, NULL) != 0) {
        free(device);
        return fm_fail(error, FM_ALLOCATION_FAILED, "the system has no mutex left");
    }
    fm_status status;
    @autoreleasepool {
        status = open_device(device, options, error ? error : &unwanted);
    }
    fm_error_clear(&unwanted);
    if (status == FM_OK)
        *out = device;
    else
        fm_device_release(device);
    return status;
}

void fm_device_get_info(const fm_device *device, fm_device_info *out) {
    *out = device->info;
}

fm_device *fm_device_retain(fm_device *device) {
    atomic_fetch_add(&device->references, 1);
    return device;
}

void fm_device_release(fm_device *device) {
    if (!device || atomic_fetch_sub(&device->references, 1) > 1) return;
    @autoreleasepool {
        [device->event release];
        [device->queue release];
        [device->metal release];
    }
    fm_slots_release(device->slots);
    pthread_mutex_destroy(&device->commit_mutex);
    free(device);
}
