/* The hot path: allocates nothing, and sends the messages only whose state has changed. */
#import "internal.h"

static fm_status refuse(const fm_encoder *encoder, fm_error *error) {
    bool committed = atomic_load(&encoder->committed);
    return fm_fail(error, FM_INVALID_STATE, "the encoder %s",
                   committed ? "is committed already" : "has not begun");
}

/* The tables of the encoder have no room for others. */
static fm_status refuse_index(uint32_t index, fm_error *error) {
    return fm_fail(error, FM_INVALID_ARGUMENT, "argument index %u is over %d", index,
                   FM_MAX_BUFFERS - 1);
}

static fm_status check_indices(const fm_dispatch *dispatch, fm_error *error) {
    const fm_argument *end = dispatch->arguments + dispatch->argument_count;
    for (const fm_argument *argument = dispatch->arguments; argument < end; argument++)
        if (argument->index >= FM_MAX_BUFFERS) return refuse_index(argument->index, error);
    for (size_t i = 0; i < dispatch->threadgroup_memory_count; i++)
        if (dispatch->threadgroup_memory[i].index >= FM_MAX_BUFFERS)
            return refuse_index(dispatch->threadgroup_memory[i].index, error);
    return FM_OK;
}

static void set_pipeline(fm_encoder *encoder, id<MTLComputePipelineState> pipeline) {
    if (encoder->pipeline == pipeline) return;
    [encoder->commands setComputePipelineState:pipeline];
    encoder->pipeline = pipeline;
}

static void set_bytes(fm_encoder *encoder, const fm_argument *argument) {
    [encoder->commands setBytes:argument->bytes length:argument->length atIndex:argument->index];
    encoder->bindings[argument->index].buffer = nil;
}

static void set_offset(fm_encoder *encoder, const fm_argument *argument) {
    fm_binding *binding = &encoder->bindings[argument->index];
    if (binding->offset == argument->offset) return;
    [encoder->commands setBufferOffset:argument->offset atIndex:argument->index];
    binding->offset = argument->offset;
}

/* A buffer that stays bound is counted already. */
static fm_status set_buffer(fm_encoder *encoder, const fm_argument *argument, fm_error *error) {
    const fm_buffer *buffer = argument->buffer;
    fm_status status = FM_OK;
    if (buffer->uses) status = fm_completion_add_use(encoder->completion, buffer->uses, error);
    if (status != FM_OK) return status;
    [encoder->commands setBuffer:buffer->metal offset:argument->offset atIndex:argument->index];
    encoder->bindings[argument->index] = (fm_binding){buffer->metal, argument->offset};
    return FM_OK;
}

/* Where it fails nothing is dispatched, and what was set until then stays set and known. */
static fm_status set_arguments(fm_encoder *encoder, const fm_dispatch *dispatch, fm_error *error) {
    const fm_argument *end = dispatch->arguments + dispatch->argument_count;
    fm_status status = FM_OK;
    for (const fm_argument *argument = dispatch->arguments; argument < end; argument++)
        if (!argument->buffer)
            set_bytes(encoder, argument);
        else if (encoder->bindings[argument->index].buffer == argument->buffer->metal)
            set_offset(encoder, argument);
        else if ((status = set_buffer(encoder, argument, error)) != FM_OK)
            break;
    return status;
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
    if (status == FM_OK) status = set_arguments(encoder, dispatch, error);
    if (status != FM_OK) return status;
    set_pipeline(encoder, dispatch->pipeline->metal);
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
