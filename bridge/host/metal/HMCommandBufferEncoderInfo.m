#include "HMCommandBufferEncoderInfo.h"

@implementation HMCommandBufferEncoderInfo

@synthesize errorState = _errorState;

- (instancetype)initWithLabel:(NSString *)label errorState:(MTLCommandEncoderErrorState)errorState {
    _label = [(label ? label : @"") copy];
    _errorState = errorState;
    return self;
}

- (void)dealloc {
    [_label release];
    [super dealloc];
}

- (NSString *)label {
    return _label;
}

@end
