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
    BOOL _isOrdered;                       /* the next dispatch comes after all before it */
    HMComputePipelineState *_pipeline;     /* held by the command buffer */
    HMBuffer *_buffers[MSL_MAX_BUFFERS];   /* likewise; nil: bytes or nothing */
    hm_binding _bindings[MSL_MAX_BUFFERS]; /* what they are in memory, and the bytes */
    uint32_t _bound;                       /* bit i: argument i is a buffer or bytes */
    uint32_t _memory[MSL_MAX_BUFFERS];     /* bytes of [[threadgroup(i)]] */
    uint32_t _memoryCount;                 /* of them, those that were set */
    NSUInteger _threadgroupMemoryLimit;
}
- (instancetype)initWithCommandBuffer:(HMCommandBuffer *)commandBuffer
                         dispatchType:(MTLDispatchType)dispatchType;
@end

/* Messages to all encoders so far. */
uint64_t hm_encoder_message_count(void);

#endif
