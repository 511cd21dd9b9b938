#ifndef METAL_MTLDEVICE_H
#define METAL_MTLDEVICE_H

#import <Metal/MTLBuffer.h>
#import <Metal/MTLCommandQueue.h>
#import <Metal/MTLComputePipeline.h>
#import <Metal/MTLEvent.h>
#import <Metal/MTLLibrary.h>

NS_ASSUME_NONNULL_BEGIN

typedef NS_OPTIONS(NSUInteger, MTLPipelineOption) {
    MTLPipelineOptionNone = 0,
    MTLPipelineOptionArgumentInfo = 1 << 0,
    MTLPipelineOptionBindingInfo = 1 << 0,
    MTLPipelineOptionBufferTypeInfo = 1 << 1,
};

typedef MTLComputePipelineReflection *_Nullable MTLAutoreleasedComputePipelineReflection;

@protocol MTLDevice <NSObject>
@property (readonly) NSString *name;
@property (readonly) uint64_t registryID;
@property (readonly) MTLSize maxThreadsPerThreadgroup;
@property (readonly) BOOL hasUnifiedMemory;
@property (readonly) NSUInteger maxBufferLength;
@property (readonly) NSUInteger maxThreadgroupMemoryLength;
@property (readonly) NSUInteger currentAllocatedSize;
@property (readonly) uint64_t recommendedMaxWorkingSetSize;
- (nullable id<MTLCommandQueue>)newCommandQueue;
- (nullable id<MTLCommandQueue>)newCommandQueueWithMaxCommandBufferCount:
    (NSUInteger)maxCommandBufferCount;
- (nullable id<MTLBuffer>)newBufferWithLength:(NSUInteger)length
                                      options:(MTLResourceOptions)options;
- (nullable id<MTLBuffer>)
    newBufferWithBytesNoCopy:(void *)pointer
                      length:(NSUInteger)length
                     options:(MTLResourceOptions)options
                 deallocator:(void (^_Nullable)(void *pointer, NSUInteger length))deallocator;
- (nullable id<MTLLibrary>)newLibraryWithSource:(NSString *)source
                                        options:(nullable MTLCompileOptions *)options
                                          error:(NSError *_Nullable *_Nullable)error;
- (nullable id<MTLLibrary>)newLibraryWithURL:(NSURL *)url
                                       error:(NSError *_Nullable *_Nullable)error;
- (nullable id<MTLComputePipelineState>)
    newComputePipelineStateWithFunction:(id<MTLFunction>)computeFunction
                                  error:(NSError *_Nullable *_Nullable)error;
- (nullable id<MTLComputePipelineState>)
    newComputePipelineStateWithFunction:(id<MTLFunction>)computeFunction
                                options:(MTLPipelineOption)options
                             reflection:
                                 (MTLAutoreleasedComputePipelineReflection *_Nullable)reflection
                                  error:(NSError *_Nullable *_Nullable)error;
- (nullable id<MTLComputePipelineState>)
    newComputePipelineStateWithDescriptor:(MTLComputePipelineDescriptor *)descriptor
                                  options:(MTLPipelineOption)options
                               reflection:
                                   (MTLAutoreleasedComputePipelineReflection *_Nullable)reflection
                                    error:(NSError *_Nullable *_Nullable)error;
- (nullable id<MTLSharedEvent>)newSharedEvent;
@end

MTL_EXTERN id<MTLDevice> _Nullable MTLCreateSystemDefaultDevice(void);
MTL_EXTERN NSArray *MTLCopyAllDevices(void);

NS_ASSUME_NONNULL_END
#endif
