#include "HMFunction.h"
#include "errors.h"

@implementation HMFunction

@synthesize label = _label;

- (instancetype)initWithDevice:(HMDevice *)device
                       library:(msl_library *)library
                        kernel:(const msl_kernel *)kernel {
    _device = [device retain];
    _library = msl_library_retain(library);
    _kernel = kernel;
    _name = [HMString(kernel->name) retain];
    return self;
}

- (void)dealloc {
    msl_library_release(_library);
    [_device release];
    [_name release];
    [_label release];
    [super dealloc];
}

- (id<MTLDevice>)device {
    return _device;
}

- (NSString *)name {
    return _name;
}

- (MTLFunctionType)functionType {
    return MTLFunctionTypeKernel;
}

@end
