#ifndef METAL_MTLCOMPUTEPIPELINE_H
#define METAL_MTLCOMPUTEPIPELINE_H

#import <Metal/MTLArgument.h>
#import <Metal/MTLLibrary.h>

NS_ASSUME_NONNULL_BEGIN

@protocol MTLDevice;

@interface MTLComputePipelineReflection : NSObject {
  @private
    NSArray *_bindings;
}
@property (nonnull, readonly) NSArray *bindings;  /* of id<MTLBinding> */
@property (nonnull, readonly) NSArray *arguments; /* of MTLArgument */
@end

@interface MTLComputePipelineDescriptor : NSObject <NSCopying> {
  @private
    NSString *_label;
    id<MTLFunction> _computeFunction;
    BOOL _threadGroupSizeIsMultipleOfThreadExecutionWidth;
    NSUInteger _maxTotalThreadsPerThreadgroup;
}
@property (nullable, copy, nonatomic) NSString *label;
@property (nullable, readwrite, nonatomic, retain) id<MTLFunction> computeFunction;
@property (readwrite, nonatomic) BOOL threadGroupSizeIsMultipleOfThreadExecutionWidth;
@property (readwrite, nonatomic) NSUInteger maxTotalThreadsPerThreadgroup; /* 0: the device's */
- (void)reset;
@end

@protocol MTLComputePipelineState <NSObject>
@property (nullable, readonly) NSString *label;
@property (readonly) id<MTLDevice> device;
@property (readonly) NSUInteger maxTotalThreadsPerThreadgroup;
@property (readonly) NSUInteger threadExecutionWidth;
@property (readonly) NSUInteger staticThreadgroupMemoryLength;
@end

NS_ASSUME_NONNULL_END
#endif
