#include "HMFunction.h"
#include <stdlib.h>
#include "HMLibrary.h"
#include "HMReflection.h"
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
    [_origin release];
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

- (NSDictionary *)functionConstantsDictionary {
    const size_t count = msl_library_declared_count(_library);
    id *constants = (id *)calloc(2 * count + 1, sizeof(id)), *names = constants + count;
    if (!constants) return [NSDictionary dictionary];
    for (size_t i = 0; i < count; i++) {
        MTLFunctionConstant *constant = HMConstantOf(msl_library_declared(_library, i));
        constants[i] = constant;
        names[i] = constant.name;
    }
    NSDictionary *dictionary = [NSDictionary dictionaryWithObjects:constants
                                                           forKeys:names
                                                             count:count];
    free(constants);
    return dictionary;
}

- (HMFunction *)compiled:(NSError **)error {
    if (!_origin) return self;
    MTLFunctionConstantValues *none = [[[MTLFunctionConstantValues alloc] init] autorelease];
    return [(HMFunction *)[_origin newFunctionWithName:_name constantValues:none
                                                 error:error] autorelease];
}

@end
