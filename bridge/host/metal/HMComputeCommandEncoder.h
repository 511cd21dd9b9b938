#ifndef HM_COMPUTECOMMANDENCODER_H
#define HM_COMPUTECOMMANDENCODER_H

#include "HMBuffer.h"
#include "HMCommandBuffer.h"
#include "HMComputePipelineState.h"

@interface HMComputeCommandEncoder : NSObject <MTLComputeCommandEncoder> {
  @private
    HMCommandBuffer *_commandBuffer; /* owned */
    HMDevice *_device;               /* the command buffer's */
    NSString *_label;                /* owned */
    MTLDispatchType _dispatchType;
    BOOL _isEnded;
    HMComputePipelineState *_pipeline;   /* held by the command buffer */
    HMBuffer *_buffers[MSL_MAX_BUFFERS]; /* likewise; nil: bytes or nothing */
    uint32_t _bound;                     /* bit i: argument i is a buffer or bytes */
    NSUInteger _threadgroupMemoryLimit;
    simt_launch _launch; /* what the next dispatch will run */
}
- (instancetype)initWithCommandBuffer:(HMCommandBuffer *)commandBuffer
                         dispatchType:(MTLDispatchType)dispatchType;
@end

/* Messages to all encoders so far. */
uint64_t hm_encoder_message_count(void);

#endif
