#include "HMSharedEvent.h"
#include <errno.h>
#include <time.h>
#include "faults.h"

static struct timespec time_in(uint64_t milliseconds) {
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    time.tv_sec += (time_t)(milliseconds / 1000);
    time.tv_nsec += (long)(milliseconds % 1000) * 1000000;
    if (time.tv_nsec >= 1000000000) {
        time.tv_nsec -= 1000000000;
        time.tv_sec++;
    }
    return time;
}

@implementation HMSharedEvent

@synthesize label = _label;

- (instancetype)initWithDevice:(HMDevice *)device {
    pthread_condattr_t attributes;
    pthread_condattr_init(&attributes);
    pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC);
    pthread_cond_init(&_changed, &attributes);
    pthread_condattr_destroy(&attributes);
    pthread_mutex_init(&_lock, NULL);
    _device = [device retain];
    if (!hm_fault_fires("event", NULL)) return self;
    [self release];
    return nil;
}

- (void)dealloc {
    pthread_cond_destroy(&_changed);
    pthread_mutex_destroy(&_lock);
    [_device release];
    [_label release];
    [super dealloc];
}

- (id<MTLDevice>)device {
    return _device;
}

- (uint64_t)signaledValue {
    return _value;
}

- (void)setSignaledValue:(uint64_t)signaledValue {
    pthread_mutex_lock(&_lock);
    _value = signaledValue;
    pthread_cond_broadcast(&_changed);
    pthread_mutex_unlock(&_lock);
}

- (void)waitUntilSignaledValue:(uint64_t)value {
    pthread_mutex_lock(&_lock);
    while (_value < value)
        pthread_cond_wait(&_changed, &_lock);
    pthread_mutex_unlock(&_lock);
}

- (BOOL)waitUntilSignaledValue:(uint64_t)value timeoutMS:(uint64_t)milliseconds {
    struct timespec end = time_in(milliseconds);
    int result = 0;
    pthread_mutex_lock(&_lock);
    while (_value < value && result != ETIMEDOUT)
        result = pthread_cond_timedwait(&_changed, &_lock, &end);
    BOOL reached = _value >= value;
    pthread_mutex_unlock(&_lock);
    return reached;
}

@end
