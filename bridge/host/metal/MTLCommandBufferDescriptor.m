#import <Metal/Metal.h>

@implementation MTLCommandBufferDescriptor

@synthesize retainedReferences = _retainedReferences, errorOptions = _errorOptions;

- (instancetype)init {
    _retainedReferences = YES;
    return self;
}

- (id)copyWithZone:(NSZone *)zone {
    (void)zone;
    MTLCommandBufferDescriptor *copy = [MTLCommandBufferDescriptor new];
    copy.retainedReferences = _retainedReferences;
    copy.errorOptions = _errorOptions;
    return copy;
}

@end
