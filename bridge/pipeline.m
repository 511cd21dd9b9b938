#import "internal.h"
#include <stdlib.h>
#include <string.h>

static void describe(fm_pipeline *pipeline, MTLComputePipelineReflection *reflection) {
    fm_pipeline_info *info = &pipeline->info;
    info->max_threads = (uint32_t)pipeline->metal.maxTotalThreadsPerThreadgroup;
    info->simd_width = (uint32_t)pipeline->metal.threadExecutionWidth;
    info->static_threadgroup_memory = (uint32_t)pipeline->metal.staticThreadgroupMemoryLength;
    fm_reflect(reflection, info);
}

/* Metal's way to say that it is the device that does not do it. */
static bool is_unsupported(NSError *cause) {
    return cause.code == MTLLibraryErrorUnsupported &&
           [cause.domain isEqualToString:MTLLibraryErrorDomain];
}

static fm_status build(fm_pipeline *pipeline, fm_device *device, id<MTLFunction> function,
                       fm_error *error) {
    MTLComputePipelineDescriptor *descriptor =
        [[[MTLComputePipelineDescriptor alloc] init] autorelease];
    MTLComputePipelineReflection *reflection = nil;
    NSError *cause = nil;
    descriptor.computeFunction = function;
    descriptor.label = function.name;
    pipeline->metal =
        [device->metal newComputePipelineStateWithDescriptor:descriptor
                                                     options:MTLPipelineOptionArgumentInfo
                                                  reflection:&reflection
                                                       error:&cause];
    if (!pipeline->metal)
        return fm_fail_with(error, is_unsupported(cause) ? FM_UNSUPPORTED : FM_COMPILATION_FAILED,
                            cause, "Metal returned no pipeline");
    describe(pipeline, reflection);
    return FM_OK;
}

/* Values for some of a function's constants, but not for all that it reads: Metal may take it so,
 * with any value or zero, which nobody who left one out by mistake would notice. */
static bool lacks_constants(NSError *warning) {
    return warning.code == MTLLibraryErrorCompileWarning &&
           strstr(warning.localizedDescription.UTF8String, "needs function constants");
}

/* The function has an owner of its own: the pipeline keeps what it needs of it. */
static fm_status specialise(fm_pipeline *pipeline, fm_device *device, fm_library *library,
                            const char *name, MTLFunctionConstantValues *values, fm_error *error) {
    NSString *string = fm_string(name, "the name of the function", error);
    if (!string) return FM_INVALID_ARGUMENT;
    NSError *cause = nil;
    id<MTLFunction> function = [[library->metal newFunctionWithName:string
                                                     constantValues:values
                                                              error:&cause] autorelease];
    if (!function || (cause && lacks_constants(cause)))
        return fm_fail_with(error, FM_COMPILATION_FAILED, cause, "Metal returned no function");
    return build(pipeline, device, function, error);
}

fm_status fm_pipeline_create(fm_device *device, fm_library *library, const char *function,
                             const fm_constant *constants, size_t constant_count, fm_pipeline **out,
                             fm_error *error) {
    fm_pipeline *pipeline = fm_allocate(sizeof *pipeline, error);
    if (!pipeline) return FM_ALLOCATION_FAILED;
    fm_status status;
    @autoreleasepool {
        status = specialise(pipeline, device, library, function,
                            fm_constant_values(constants, constant_count), error);
    }
    if (status == FM_OK)
        *out = pipeline;
    else
        fm_pipeline_release(pipeline);
    return status;
}

const fm_pipeline_info *fm_pipeline_get_info(const fm_pipeline *pipeline) {
    return &pipeline->info;
}

void fm_pipeline_release(fm_pipeline *pipeline) {
    if (!pipeline) return;
    @autoreleasepool {
        [pipeline->metal release];
    }
    fm_forget_reflection(&pipeline->info);
    free(pipeline);
}
