/* The hot path: allocates nothing, and sends the messages only whose state has changed. */
#import "internal.h"

static fm_status refuse(const fm_encoder *encoder, fm_error *error) {
    bool committed = atomic_load(&encoder->committed);
    return fm_fail(error, FM_INVALID_STATE, "the encoder %s",
                   committed ? "is committed already" : "has not begun");
}

/* The tables of the encoder have no room for others. */
static fm_status check_index(uint32_t index, fm_error *error) {
    if (index < FM_MAX_BUFFERS) return FM_OK;
    return fm_fail(error, FM_INVALID_ARGUMENT, "argument index %u is over %d", index,
                   FM_MAX_BUFFERS - 1);
}

static fm_status check_indices(const fm_dispatch *dispatch, fm_error *error) {
    fm_status status = FM_OK;
    for (size_t i = 0; i < dispatch->argument_count && status == FM_OK; i++)
        status = check_index(dispatch->arguments[i].index, error);
    for (size_t i = 0; i < dispatch->threadgroup_memory_count && status == FM_OK; i++)
        status = check_index(dispatch->threadgroup_memory[i].index, error);
    return status;
}

/* A buffer that stays bound is counted already. */
static fm_status count_uses(const fm_encoder *encoder, const fm_dispatch *dispatch,
                            fm_error *error) {
    fm_status status = FM_OK;
    for (size_t i = 0; i < dispatch->argument_count && status == FM_OK; i++) {
        const fm_argument *argument = &dispatch->arguments[i];
        const fm_buffer *buffer = argument->buffer;
        if (buffer && buffer->uses && encoder->bindings[argument->index].buffer != buffer->metal)
            status = fm_completion_add_use(encoder->completion, buffer->uses, error);
    }
    return status;
}

static void set_pipeline(fm_encoder *encoder, id<MTLComputePipelineState> pipeline) {
    if (encoder->pipeline == pipeline) return;
    [encoder->commands setComputePipelineState:pipeline];
    encoder->pipeline = pipeline;
}

static void set_argument(fm_encoder *encoder, const fm_argument *argument) {
    fm_binding *binding = &encoder->bindings[argument->index];
    if (!argument->buffer) {
        [encoder->commands setBytes:argument->bytes
                             length:argument->length
                            atIndex:argument->index];
        binding->buffer = nil;
        return;
    }
    id<MTLBuffer> buffer = argument->buffer->metal;
    if (binding->buffer != buffer)
        [encoder->commands setBuffer:buffer offset:argument->offset atIndex:argument->index];
    else if (binding->offset != argument->offset)
        [encoder->commands setBufferOffset:argument->offset atIndex:argument->index];
    binding->buffer = buffer;
    binding->offset = argument->offset;
}

static void set_threadgroup_memory(fm_encoder *encoder, const fm_threadgroup_memory *memory) {
    uint32_t *length = &encoder->threadgroup_memory[memory->index];
    if (*length == memory->length) return;
    [encoder->commands setThreadgroupMemoryLength:memory->length atIndex:memory->index];
    *length = memory->length;
}

static MTLSize size_of(const uint64_t extent[3]) {
    return MTLSizeMake(extent[0], extent[1], extent[2]);
}

fm_status fm_encoder_dispatch(fm_encoder *encoder, const fm_dispatch *dispatch, fm_error *error) {
    if (!encoder->commands) return refuse(encoder, error);
    fm_status status = check_indices(dispatch, error);
    if (status == FM_OK) status = count_uses(encoder, dispatch, error);
    if (status != FM_OK) return status;
    set_pipeline(encoder, dispatch->pipeline->metal);
    for (size_t i = 0; i < dispatch->argument_count; i++)
        set_argument(encoder, &dispatch->arguments[i]);
    for (size_t i = 0; i < dispatch->threadgroup_memory_count; i++)
        set_threadgroup_memory(encoder, &dispatch->threadgroup_memory[i]);
    MTLSize grid = size_of(dispatch->grid);
    MTLSize threads = size_of(dispatch->threads_per_threadgroup);
    if (dispatch->exact_threads)
        [encoder->commands dispatchThreads:grid threadsPerThreadgroup:threads];
    else
        [encoder->commands dispatchThreadgroups:grid threadsPerThreadgroup:threads];
    return FM_OK;
}

fm_status fm_encoder_barrier(fm_encoder *encoder, fm_error *error) {
    if (atomic_load(&encoder->committed)) return refuse(encoder, error);
    [encoder->commands memoryBarrierWithScope:MTLBarrierScopeBuffers];
    return FM_OK;
}
