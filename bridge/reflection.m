/* What a kernel's arguments are: Metal's reflection in the terms of fm_pipeline_info. */
#import "internal.h"
#include <stdlib.h>
#include <string.h>

/* Before macOS 13 the list had another name, and its objects were `active` where they are `used`
 * now; the rest of them answers to the same messages. */
@protocol FMOlderReflection
- (NSArray *)arguments;
@end

@protocol FMOlderBinding
- (BOOL)isActive;
@end

static NSArray *bindings_of(MTLComputePipelineReflection *reflection) {
    if ([reflection respondsToSelector:@selector(bindings)]) return reflection.bindings;
    return [(id<FMOlderReflection>)reflection arguments];
}

static bool is_used(id<MTLBinding> binding) {
    if ([binding respondsToSelector:@selector(isUsed)]) return binding.used;
    return [(id<FMOlderBinding>)binding isActive];
}

/* Of two arguments in one place, a function constant leaves one that is used. */
static void add_used_buffer(fm_pipeline_info *info, id<MTLBufferBinding> binding) {
    const char *name = binding.name.UTF8String;
    info->used |= UINT32_C(1) << binding.index;
    info->size[binding.index] = (uint32_t)binding.bufferDataSize;
    if (name && !info->name[binding.index]) info->name[binding.index] = strdup(name);
}

static void add_buffer(fm_pipeline_info *info, id<MTLBufferBinding> binding) {
    uint32_t bit = UINT32_C(1) << binding.index;
    info->declared |= bit;
    if (is_used(binding)) add_used_buffer(info, binding);
    if (binding.access != MTLBindingAccessReadOnly) info->writable |= bit;
    info->alignment[binding.index] = (uint32_t)binding.bufferAlignment;
}

void fm_reflect(MTLComputePipelineReflection *reflection, fm_pipeline_info *info) {
    NSArray *bindings = bindings_of(reflection);
    for (NSUInteger i = 0; i < bindings.count; i++) {
        id<MTLBinding> binding = [bindings objectAtIndex:i];
        if (binding.index >= FM_MAX_BUFFERS) continue;
        if (binding.type == MTLBindingTypeBuffer)
            add_buffer(info, (id<MTLBufferBinding>)binding);
        else if (binding.type == MTLBindingTypeThreadgroupMemory)
            info->threadgroup_declared |= UINT32_C(1) << binding.index;
    }
}

void fm_forget_reflection(fm_pipeline_info *info) {
    for (size_t i = 0; i < FM_MAX_BUFFERS; i++)
        free((char *)info->name[i]);
}
