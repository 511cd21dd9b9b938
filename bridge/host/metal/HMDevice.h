#ifndef HM_DEVICE_H
#define HM_DEVICE_H

#import <Metal/Metal.h>
#include "simt.h"

typedef enum HMEngine {
    HMEngineAuto = 0, /* the fastest that there is for each kernel */
    HMEngineSIMT,
    HMEngineNative, /* refuses kernels that it has no equivalent of */
} HMEngine;

typedef enum HMChecks {
    HMChecksNone = 0,
    HMChecksOn,
    HMChecksStrict,
} HMChecks;

/* Zero means default. */
typedef struct HMDeviceOptions {
    HMEngine engine;
    uint32_t threads;    /* that run threadgroups; 0: all that the process may use */
    uint32_t maxThreads; /* per threadgroup, of every pipeline; 0: 1024 */
    BOOL noTensorAPI;
    simt_order order;
    uint64_t seed;   /* of the random order */
    HMChecks checks; /* of what kernels do to memory; of the engine simt alone */
    double timeout;  /* seconds that a command buffer may run; 0: FLASHMETAL_TIMEOUT */
} HMDeviceOptions;

/* Lives as long as the process, like the devices of Apple's Metal. */
@interface HMDevice : NSObject <MTLDevice> {
  @public
    HMDeviceOptions _options;
    simt_pool *_pool;
    uint64_t _timeLimit; /* of a command buffer, in nanoseconds; 0: none */
    uint64_t _registryID;
    size_t _queueCount; /* that exist; the registry's */
}
/* nil when its threads cannot be started. */
- (instancetype)initWithOptions:(const HMDeviceOptions *)options;
- (MTLLanguageVersion)newestLanguageVersion;
@end

/* Of each of its command queues. Without one a device gives back its threads as soon as another is
 * used: programs try many options. */
void HMDeviceGainedQueue(HMDevice *device);
void HMDeviceLostQueue(HMDevice *device);

/* Retained. The same device for the same options; nil when there is none. */
HMDevice *HMDeviceCreate(const HMDeviceOptions *options);

#endif
