#ifndef METAL_MTLCOMMANDQUEUE_H
#define METAL_MTLCOMMANDQUEUE_H

#import <Metal/MTLCommandBuffer.h>

NS_ASSUME_NONNULL_BEGIN

@protocol MTLDevice;

@protocol MTLCommandQueue <NSObject>
@property (nullable, copy, atomic) NSString *label;
@property (readonly) id<MTLDevice> device;
- (nullable id<MTLCommandBuffer>)commandBuffer;
- (nullable id<MTLCommandBuffer>)commandBufferWithUnretainedReferences;
- (nullable id<MTLCommandBuffer>)commandBufferWithDescriptor:
    (MTLCommandBufferDescriptor *)descriptor;
@end

NS_ASSUME_NONNULL_END
#endif
