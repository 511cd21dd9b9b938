#include "HMComputePipelineState.h"
#include <stdio.h>
#include "HMReflection.h"
#include "errors.h"
#include "faults.h"
#include "device_limits.h"

static NSErrorDomain const pipeline_error_domain = @"MTLPipelineErrorDomain";

/* The native equivalent of a function that is as it was shipped, where the engine may take it. */
static const native_kernel *find_equivalent(HMDevice *device, HMFunction *function) {
    if (device->_options.engine == HMEngineSIMT || function->_hasMacros) return NULL;
    return native_find(function->_kernel->name, msl_library_source_digest(function->_library),
                       msl_library_constants(function->_library));
}

static NSUInteger smaller_limit(NSUInteger limit, NSUInteger other) {
    return other != 0 && other < limit ? other : limit;
}

@implementation HMComputePipelineState

@synthesize maxTotalThreadsPerThreadgroup = _maxTotalThreadsPerThreadgroup,
            staticThreadgroupMemoryLength = _staticThreadgroupMemoryLength;

- (instancetype)initWithDevice:(HMDevice *)device
                    descriptor:(MTLComputePipelineDescriptor *)descriptor
                         error:(NSError **)error {
    HMFunction *function = (HMFunction *)descriptor.computeFunction;
    _function = [[function compiled:error] retain];
    if ((function && !_function) || ![self check:device error:error]) {
        [self release];
        return nil;
    }
    _equivalent = find_equivalent(device, _function);
    if (!_equivalent && device->_options.engine == HMEngineNative) {
        [self refuseWithoutEquivalent:error];
        [self release];
        return nil;
    }
    const msl_kernel *kernel = _function->_kernel;
    NSUInteger limit = smaller_limit(HM_MAX_THREADS, device->_options.maxThreads);
    limit = smaller_limit(limit, kernel->max_threads);
    _maxTotalThreadsPerThreadgroup = smaller_limit(limit, descriptor.maxTotalThreadsPerThreadgroup);
    _label = [descriptor.label copy];
    [self collectBindings];
    return self;
}

- (BOOL)check:(HMDevice *)device error:(NSError **)error {
    char text[256] = "";
    if (hm_fault_fires("pipeline", NULL))
        snprintf(text, sizeof text, "Compiler encountered an internal error");
    else if (!_function)
        snprintf(text, sizeof text, "the descriptor has no compute function");
    else if (_function->_device != device)
        snprintf(text, sizeof text, "function %s belongs to another device",
                 _function->_kernel->name);
    else {
        NSUInteger available = device.maxThreadgroupMemoryLength;
        _staticThreadgroupMemoryLength =
            msl_kernel_static_memory(_function->_library, _function->_kernel);
        if (_staticThreadgroupMemoryLength > available)
            snprintf(text, sizeof text,
                     "Threadgroup memory size (%lu) exceeds the maximum threadgroup memory allowed "
                     "(%lu)",
                     _staticThreadgroupMemoryLength, available);
    }
    if (text[0]) HMStoreError(error, pipeline_error_domain, 3, text);
    return !text[0];
}

- (void)refuseWithoutEquivalent:(NSError **)error {
    char text[256];
    snprintf(text, sizeof text,
             "the native engine has no equivalent of function %s as it was compiled: the engine "
             "\"auto\" runs it",
             _function->_kernel->name);
    HMStoreError(error, MTLLibraryErrorDomain, MTLLibraryErrorUnsupported, text);
}

- (void)collectBindings {
    const msl_kernel *kernel = _function->_kernel;
    for (uint32_t i = 0; i < kernel->binding_count; i++) {
        const msl_binding *binding = &kernel->bindings[i];
        uint32_t bit = UINT32_C(1) << binding->index;
        if (binding->kind == MSL_BINDING_THREADGROUP_MEMORY)
            _declaredThreadgroupMemory |= bit;
        else if (binding->used)
            _usedBuffers |= bit;
    }
}

- (void)dealloc {
    [_function release];
    [_label release];
    [super dealloc];
}

- (id<MTLDevice>)device {
    return _function->_device;
}

- (NSString *)label {
    return _label;
}

- (NSUInteger)threadExecutionWidth {
    return MSL_LANES;
}

- (MTLComputePipelineReflection *)reflection {
    return HMReflect(_function->_kernel);
}

@end
