/* What a kernel's arguments are: Metal's reflection as the masks of fm_pipeline_info. */
#import "internal.h"

/* Buffers and threadgroup memory have index spaces of their own. */
static void add_buffer(fm_pipeline_info *info, NSUInteger index, bool used, bool writable,
                       NSUInteger alignment) {
    if (index >= FM_MAX_BUFFERS) return;
    uint32_t bit = UINT32_C(1) << index;
    info->declared |= bit;
    if (used) info->used |= bit;
    if (writable) info->writable |= bit;
    info->alignment[index] = (uint32_t)alignment;
}

static void add_threadgroup_memory(fm_pipeline_info *info, NSUInteger index) {
    if (index < FM_MAX_BUFFERS) info->threadgroup_declared |= UINT32_C(1) << index;
}

static void add_bindings(NSArray *bindings, fm_pipeline_info *info) {
    for (NSUInteger i = 0; i < bindings.count; i++) {
        id<MTLBinding> binding = [bindings objectAtIndex:i];
        if (binding.type == MTLBindingTypeBuffer)
            add_buffer(info, binding.index, binding.used,
                       binding.access != MTLBindingAccessReadOnly,
                       ((id<MTLBufferBinding>)binding).bufferAlignment);
        else if (binding.type == MTLBindingTypeThreadgroupMemory)
            add_threadgroup_memory(info, binding.index);
    }
}

static void add_arguments(NSArray *arguments, fm_pipeline_info *info) {
    for (NSUInteger i = 0; i < arguments.count; i++) {
        MTLArgument *argument = [arguments objectAtIndex:i];
        if (argument.type == MTLArgumentTypeBuffer)
            add_buffer(info, argument.index, argument.active,
                       argument.access != MTLArgumentAccessReadOnly, argument.bufferAlignment);
        else if (argument.type == MTLArgumentTypeThreadgroupMemory)
            add_threadgroup_memory(info, argument.index);
    }
}

void fm_reflect(MTLComputePipelineReflection *reflection, fm_pipeline_info *info) {
    if ([reflection respondsToSelector:@selector(bindings)])
        add_bindings(reflection.bindings, info);
    else
        add_arguments(reflection.arguments, info);
}
