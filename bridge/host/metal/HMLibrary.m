#include "HMLibrary.h"
#include <stdio.h>
#include <stdlib.h>
#include "HMConstants.h"
#include "HMFunction.h"
#include "compile.h"
#include "errors.h"
#include "faults.h"

@implementation HMLibrary

@synthesize label = _label;

- (instancetype)initWithDevice:(HMDevice *)device
                        source:(NSString *)source
                       options:(MTLCompileOptions *)options
                         error:(NSError **)error {
    _device = [device retain];
    _source = [source copy];
    _options = options ? [options copy] : [MTLCompileOptions new];
    if (hm_fault_fires("library", NULL))
        HMStoreError(error, MTLLibraryErrorDomain, MTLLibraryErrorCompileFailure,
                     "program_source: error: a fault that a test has armed");
    else
        _library = HMCheck(device, source, _options, error);
    return [self completed];
}

- (instancetype)initWithDevice:(HMDevice *)device path:(NSString *)path error:(NSError **)error {
    _device = [device retain];
    if (hm_fault_fires("library", NULL))
        HMStoreError(error, MTLLibraryErrorDomain, MTLLibraryErrorFileNotFound,
                     "a fault that a test has armed");
    else if (device->_options.checks != HMChecksNone)
        HMStoreError(error, MTLLibraryErrorDomain, MTLLibraryErrorUnsupported,
                     "a library from a file was compiled without checks: for a device with checks, "
                     "compile it from its source");
    else
        _library = HMOpen(path, error);
    return [self completed];
}

- (instancetype)completed {
    if (_library) return self;
    [self release];
    return nil;
}

- (void)dealloc {
    if (_library) msl_library_release(_library);
    [_device release];
    [_source release];
    [_options release];
    [_label release];
    [super dealloc];
}

- (id<MTLDevice>)device {
    return _device;
}

- (NSArray *)functionNames {
    size_t count = msl_library_kernel_count(_library);
    id *names = (id *)calloc(count + 1, sizeof(id));
    if (!names) return [NSArray array];
    for (size_t i = 0; i < count; i++)
        names[i] = HMString(msl_library_kernel(_library, i)->name);
    NSArray *array = [NSArray arrayWithObjects:names count:count];
    free(names);
    return array;
}

- (id<MTLFunction>)newFunctionWithName:(NSString *)functionName {
    HMFunction *function = [self functionIn:_library named:functionName error:NULL];
    if (function && !function->_kernel->entry) function->_origin = [self retain];
    return function;
}

- (id<MTLFunction>)newFunctionWithName:(NSString *)name
                        constantValues:(MTLFunctionConstantValues *)constantValues
                                 error:(NSError **)error {
    const msl_kernel *kernel = msl_library_find(_library, name.UTF8String);
    if (kernel && !kernel->entry)
        return [self compileFunction:name constantValues:constantValues error:error];
    NSUInteger count;
    HMConstantsOf(constantValues, &count);
    if (!_source && count > 0 && !HMConstantsAre(constantValues, msl_library_constants(_library))) {
        HMStoreError(error, MTLLibraryErrorDomain, MTLLibraryErrorUnsupported,
                     "a host library that was opened from a file has the function constants that "
                     "it was compiled with: for others, compile it from its source");
        return nil;
    }
    return [self functionIn:_library named:name error:error];
}

- (id<MTLFunction>)compileFunction:(NSString *)name
                    constantValues:(MTLFunctionConstantValues *)constantValues
                             error:(NSError **)error {
    msl_library *compiled = HMCompile(_device, _source, _options, name, constantValues, error);
    if (!compiled) return nil;
    id<MTLFunction> function = [self functionIn:compiled named:name error:error];
    msl_library_release(compiled);
    return function;
}

- (HMFunction *)functionIn:(msl_library *)library named:(NSString *)name error:(NSError **)error {
    const msl_kernel *kernel = msl_library_find(library, name.UTF8String);
    if (kernel && !hm_fault_fires("function", NULL)) {
        HMFunction *function = [[HMFunction alloc] initWithDevice:_device
                                                          library:library
                                                           kernel:kernel];
        function->_hasMacros = _options.preprocessorMacros.count > 0;
        return function;
    }
    char text[256];
    snprintf(text, sizeof text, "Function %s was not found in the library", name.UTF8String);
    HMStoreError(error, MTLLibraryErrorDomain, MTLLibraryErrorFunctionNotFound, text);
    return nil;
}

@end
