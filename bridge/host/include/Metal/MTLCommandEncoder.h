#ifndef METAL_MTLCOMMANDENCODER_H
#define METAL_MTLCOMMANDENCODER_H

#import <Metal/MTLTypes.h>

NS_ASSUME_NONNULL_BEGIN

@protocol MTLDevice;

typedef NS_OPTIONS(NSUInteger, MTLBarrierScope) {
    MTLBarrierScopeBuffers = 1 << 0,
    MTLBarrierScopeTextures = 1 << 1,
    MTLBarrierScopeRenderTargets = 1 << 2,
};

@protocol MTLCommandEncoder <NSObject>
@property (readonly) id<MTLDevice> device;
@property (nullable, copy, atomic) NSString *label;
- (void)endEncoding;
@end

NS_ASSUME_NONNULL_END
#endif
