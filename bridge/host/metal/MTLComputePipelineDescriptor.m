#import <Metal/Metal.h>

@implementation MTLComputePipelineDescriptor

@synthesize label = _label, computeFunction = _computeFunction,
            threadGroupSizeIsMultipleOfThreadExecutionWidth =
                _threadGroupSizeIsMultipleOfThreadExecutionWidth,
            maxTotalThreadsPerThreadgroup = _maxTotalThreadsPerThreadgroup;

- (void)dealloc {
    [self reset];
    [super dealloc];
}

- (void)reset {
    self.label = nil;
    self.computeFunction = nil;
    _threadGroupSizeIsMultipleOfThreadExecutionWidth = NO;
    _maxTotalThreadsPerThreadgroup = 0;
}

- (id)copyWithZone:(NSZone *)zone {
    (void)zone;
    MTLComputePipelineDescriptor *copy = [MTLComputePipelineDescriptor new];
    copy.label = _label;
    copy.computeFunction = _computeFunction;
    copy.threadGroupSizeIsMultipleOfThreadExecutionWidth =
        _threadGroupSizeIsMultipleOfThreadExecutionWidth;
    copy.maxTotalThreadsPerThreadgroup = _maxTotalThreadsPerThreadgroup;
    return copy;
}

@end
