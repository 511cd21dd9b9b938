/* The devices that exist: one for each set of options that was asked for. */
#include <pthread.h>
#include <stdlib.h>
#include "HMDevice.h"
#include "faults.h"
#include "device_limits.h"

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static HMDevice **devices; /* owned for ever */
static size_t device_count;
static HMDevice *idle; /* the last one that lost its queues, with its threads */

/* What asks for the same device becomes the same. */
static HMDeviceOptions normalised(const HMDeviceOptions *options) {
    HMDeviceOptions same = *options;
    if (same.maxThreads == 0) same.maxThreads = HM_MAX_THREADS;
    if (same.order != SIMT_RANDOM) same.seed = 0;
    return same;
}

static BOOL is_equal(const HMDeviceOptions *a, const HMDeviceOptions *b) {
    return a->engine == b->engine && a->threads == b->threads && a->maxThreads == b->maxThreads &&
           a->noTensorAPI == b->noTensorAPI && a->order == b->order && a->seed == b->seed &&
           a->checks == b->checks && a->timeout == b->timeout;
}

/* Called with the lock held. */
static HMDevice *find(const HMDeviceOptions *options) {
    for (size_t i = 0; i < device_count; i++)
        if (is_equal(&devices[i]->_options, options)) return devices[i];
    return nil;
}

/* Called with the lock held. */
static HMDevice *add(const HMDeviceOptions *options) {
    HMDevice **larger = realloc(devices, (device_count + 1) * sizeof *devices);
    if (!larger) return nil;
    devices = larger;
    HMDevice *device = [[HMDevice alloc] initWithOptions:options];
    if (device) devices[device_count++] = device;
    return device;
}

HMDevice *HMDeviceCreate(const HMDeviceOptions *options) {
    if (hm_fault_fires("device", NULL)) return nil;
    HMDeviceOptions wanted = normalised(options);
    pthread_mutex_lock(&lock);
    HMDevice *device = find(&wanted);
    if (!device) device = add(&wanted);
    pthread_mutex_unlock(&lock);
    return [device retain];
}

void HMDeviceGainedQueue(HMDevice *device) {
    pthread_mutex_lock(&lock);
    device->_queueCount++;
    if (idle == device) idle = nil;
    pthread_mutex_unlock(&lock);
}

/* Nothing runs on a device without queues, and none comes meanwhile. */
void HMDeviceLostQueue(HMDevice *device) {
    pthread_mutex_lock(&lock);
    if (--device->_queueCount == 0) {
        if (idle) simt_pool_rest(idle->_pool);
        idle = device;
    }
    pthread_mutex_unlock(&lock);
}

id<MTLDevice> MTLCreateSystemDefaultDevice(void) {
    const HMDeviceOptions defaults = {0};
    return HMDeviceCreate(&defaults);
}

NSArray *MTLCopyAllDevices(void) {
    id<MTLDevice> device = MTLCreateSystemDefaultDevice();
    @autoreleasepool {
        NSArray *all = [[NSArray arrayWithObjects:&device count:device ? 1 : 0] retain];
        [device release];
        return all;
    }
}
