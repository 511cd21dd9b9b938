#ifndef HM_COMPUTEPIPELINESTATE_H
#define HM_COMPUTEPIPELINESTATE_H

#include "HMFunction.h"
#include "native.h"

@interface HMComputePipelineState : NSObject <MTLComputePipelineState> {
  @public
    HMFunction *_function;            /* owned */
    NSString *_label;                 /* owned */
    const native_kernel *_equivalent; /* that runs in place of the function; NULL: none */
    NSUInteger _maxTotalThreadsPerThreadgroup;
    NSUInteger _staticThreadgroupMemoryLength;
    uint32_t _usedBuffers;               /* bit i: buffer argument i must be bound */
    uint32_t _declaredThreadgroupMemory; /* bit i: [[threadgroup(i)]] */
    _Atomic uint64_t _holder;            /* serial of the command buffer that retained this last */
}
/* nil with `error` filled. */
- (instancetype)initWithDevice:(HMDevice *)device
                    descriptor:(MTLComputePipelineDescriptor *)descriptor
                         error:(NSError **)error;
- (MTLComputePipelineReflection *)reflection;
@end

#endif
