#ifndef HM_BUFFER_H
#define HM_BUFFER_H

#include "HMDevice.h"

@interface HMBuffer : NSObject <MTLBuffer> {
  @public
    HMDevice *_device; /* lives as long as the process */
    void *_memory;
    NSUInteger _length;
    NSUInteger _end; /* of what kernels may touch; `_length` but for wrapped memory */
    MTLResourceOptions _options;
    void (^_deallocator)(void *, NSUInteger); /* owned */
    BOOL _isWrapped;                          /* somebody else's memory */
    NSString *_label;                         /* owned */
    _Atomic uint64_t _holder; /* serial of the command buffer that retained this last */
}
/* nil when the length is 0 or over a limit. */
- (instancetype)initWithDevice:(HMDevice *)device
                        length:(NSUInteger)length
                       options:(MTLResourceOptions)options;
/* nil, too, when `memory` is not whole pages. `deallocator` is then not called. */
- (instancetype)initWithDevice:(HMDevice *)device
                        memory:(void *)memory
                        length:(NSUInteger)length
                       options:(MTLResourceOptions)options
                   deallocator:(void (^)(void *, NSUInteger))deallocator;
@end

#endif
