#include "HMDevice.h"
#include <string.h>
#include "HMBuffer.h"
#include "HMCommandQueue.h"
#include "HMComputePipelineState.h"
#include "HMLibrary.h"
#include "HMSharedEvent.h"
#include "device_limits.h"
#include "time_limit.h"

/* FNV-1a over the options, so that an id means the same in every process. */
static uint64_t registry_id(const HMDeviceOptions *options) {
    uint64_t timeout;
    memcpy(&timeout, &options->timeout, sizeof timeout);
    const uint64_t fields[] = {options->engine,      options->threads, options->maxThreads,
                               options->noTensorAPI, options->order,   options->seed,
                               options->checks,      timeout};
    uint64_t hash = 0xcbf29ce484222325;
    for (size_t i = 0; i < sizeof fields / sizeof fields[0]; i++)
        for (int shift = 0; shift < 64; shift += 8)
            hash = (hash ^ (fields[i] >> shift & 0xff)) * 0x100000001b3;
    return hash;
}

@implementation HMDevice

@synthesize registryID = _registryID;

- (instancetype)initWithOptions:(const HMDeviceOptions *)options {
    _options = *options;
    _registryID = registry_id(options);
    _timeLimit = hm_time_limit(options->timeout);
    _pool = simt_pool_create(options->threads);
    if (_pool) return self;
    [self release];
    return nil;
}

- (void)dealloc {
    if (_pool) simt_pool_release(_pool);
    [super dealloc];
}

- (NSString *)name {
    return @"Host Metal";
}

- (MTLSize)maxThreadsPerThreadgroup {
    return MTLSizeMake(HM_MAX_THREADS, HM_MAX_THREADS, HM_MAX_THREADS);
}

- (BOOL)hasUnifiedMemory {
    return YES;
}

- (NSUInteger)maxBufferLength {
    hm_limits limits;
    hm_limits_get(&limits);
    return limits.max_buffer_length;
}

- (NSUInteger)maxThreadgroupMemoryLength {
    hm_limits limits;
    hm_limits_get(&limits);
    return limits.max_threadgroup_memory;
}

- (NSUInteger)currentAllocatedSize {
    return hm_memory_allocated();
}

- (uint64_t)recommendedMaxWorkingSetSize {
    hm_limits limits;
    hm_limits_get(&limits);
    return limits.budget;
}

- (MTLLanguageVersion)newestLanguageVersion {
    return _options.noTensorAPI ? MTLLanguageVersion3_2 : MTLLanguageVersion4_0;
}

- (id<MTLCommandQueue>)newCommandQueue {
    return [self newCommandQueueWithMaxCommandBufferCount:HM_DEFAULT_COMMAND_BUFFERS];
}

- (id<MTLCommandQueue>)newCommandQueueWithMaxCommandBufferCount:(NSUInteger)maxCommandBufferCount {
    return [[HMCommandQueue alloc] initWithDevice:self capacity:maxCommandBufferCount];
}

- (id<MTLBuffer>)newBufferWithLength:(NSUInteger)length options:(MTLResourceOptions)options {
    return [[HMBuffer alloc] initWithDevice:self length:length options:options];
}

- (id<MTLBuffer>)newBufferWithBytesNoCopy:(void *)pointer
                                   length:(NSUInteger)length
                                  options:(MTLResourceOptions)options
                              deallocator:(void (^)(void *pointer, NSUInteger length))deallocator {
    return [[HMBuffer alloc] initWithDevice:self
                                     memory:pointer
                                     length:length
                                    options:options
                                deallocator:deallocator];
}

- (id<MTLLibrary>)newLibraryWithSource:(NSString *)source
                               options:(MTLCompileOptions *)options
                                 error:(NSError **)error {
    return [[HMLibrary alloc] initWithDevice:self source:source options:options error:error];
}

- (id<MTLLibrary>)newLibraryWithURL:(NSURL *)url error:(NSError **)error {
    return [[HMLibrary alloc] initWithDevice:self path:url.path error:error];
}

- (id<MTLComputePipelineState>)newComputePipelineStateWithFunction:(id<MTLFunction>)computeFunction
                                                             error:(NSError **)error {
    return [self newComputePipelineStateWithFunction:computeFunction
                                             options:MTLPipelineOptionNone
                                          reflection:NULL
                                               error:error];
}

- (id<MTLComputePipelineState>)
    newComputePipelineStateWithFunction:(id<MTLFunction>)computeFunction
                                options:(MTLPipelineOption)options
                             reflection:(MTLAutoreleasedComputePipelineReflection *)reflection
                                  error:(NSError **)error {
    MTLComputePipelineDescriptor *descriptor = [MTLComputePipelineDescriptor new];
    descriptor.computeFunction = computeFunction;
    id<MTLComputePipelineState> state = [self newComputePipelineStateWithDescriptor:descriptor
                                                                            options:options
                                                                         reflection:reflection
                                                                              error:error];
    [descriptor release];
    return state;
}

- (id<MTLComputePipelineState>)
    newComputePipelineStateWithDescriptor:(MTLComputePipelineDescriptor *)descriptor
                                  options:(MTLPipelineOption)options
                               reflection:(MTLAutoreleasedComputePipelineReflection *)reflection
                                    error:(NSError **)error {
    HMComputePipelineState *state = [[HMComputePipelineState alloc] initWithDevice:self
                                                                        descriptor:descriptor
                                                                             error:error];
    if (state && reflection && options != MTLPipelineOptionNone) *reflection = [state reflection];
    return state;
}

- (id<MTLSharedEvent>)newSharedEvent {
    return [[HMSharedEvent alloc] initWithDevice:self];
}

@end
