#ifndef HM_SHAREDEVENT_H
#define HM_SHAREDEVENT_H

#include <pthread.h>
#include "HMDevice.h"

@interface HMSharedEvent : NSObject <MTLSharedEvent> {
  @private
    HMDevice *_device; /* owned */
    NSString *_label;  /* owned */
    pthread_mutex_t _lock;
    pthread_cond_t _changed;
    _Atomic uint64_t _value; /* written with the lock, read without: pollers spin on it */
}
- (instancetype)initWithDevice:(HMDevice *)device;
/* For ever, if need be. */
- (void)waitUntilSignaledValue:(uint64_t)value;
@end

#endif
