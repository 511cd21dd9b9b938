#ifndef HM_COMMANDQUEUE_H
#define HM_COMMANDQUEUE_H

#include <pthread.h>
#include "HMDevice.h"
#include "executor.h"

enum { HM_DEFAULT_COMMAND_BUFFERS = 64 };

@interface HMCommandQueue : NSObject <MTLCommandQueue> {
  @private
    HMDevice *_device;      /* owned */
    NSString *_label;       /* owned */
    hm_executor *_executor; /* owned */
    NSUInteger _capacity;
    pthread_mutex_t _lock;
    pthread_cond_t _left;
    NSUInteger _uncompleted; /* command buffers, at most _capacity */
}
/* `capacity`: how many command buffers may be uncompleted; nil when it is 0. */
- (instancetype)initWithDevice:(HMDevice *)device capacity:(NSUInteger)capacity;
/* Runs a committed HMCommandBuffer after those before it; NO: its thread cannot be started. */
- (BOOL)submit:(id<MTLCommandBuffer>)commandBuffer;
/* Runs short command buffers that were committed on the calling thread, which waits for one, unless
 * the queue's thread has begun; only on a device of one thread. */
- (void)help;
/* A command buffer has completed, or went away uncommitted. */
- (void)commandBufferLeft;
@end

#endif
