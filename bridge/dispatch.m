/* The hot path: allocates nothing, and sends the messages only whose state has changed. */
#import "internal.h"

static fm_status refuse(const fm_encoder *encoder, fm_error *error) {
    bool committed = atomic_load(&encoder->committed);
    return fm_fail(error, FM_INVALID_STATE, "the encoder %s",
                   committed ? "is committed already" : "has not begun");
}

/* Names the first one that the encoder's tables have no room for. */
static fm_status refuse_index(const fm_dispatch *dispatch, fm_error *error) {
    uint32_t index = 0;
    for (size_t i = dispatch->threadgroup_memory_count; i-- > 0;)
        if (dispatch->threadgroup_memory[i].index >= FM_MAX_BUFFERS)
            index = dispatch->threadgroup_memory[i].index;
    for (size_t i = dispatch->argument_count; i-- > 0;)
        if (dispatch->arguments[i].index >= FM_MAX_BUFFERS) index = dispatch->arguments[i].index;
    return fm_fail(error, FM_INVALID_ARGUMENT, "argument index %u is over %d", index,
                   FM_MAX_BUFFERS - 1);
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

/* One pass with no branch that depends on the arguments: nearly always there is nothing to do. */
static fm_status prepare(const fm_encoder *encoder, const fm_dispatch *dispatch, fm_error *error) {
    const fm_argument *end = dispatch->arguments + dispatch->argument_count;
    bool is_over = false, is_tracked = false;
    for (const fm_argument *argument = dispatch->arguments; argument < end; argument++) {
        is_over |= argument->index >= FM_MAX_BUFFERS;
        if (argument->buffer) is_tracked |= argument->buffer->uses != NULL;
    }
    for (size_t i = 0; i < dispatch->threadgroup_memory_count && !is_over; i++)
        is_over = dispatch->threadgroup_memory[i].index >= FM_MAX_BUFFERS;
    if (is_over) return refuse_index(dispatch, error);
    return is_tracked ? count_uses(encoder, dispatch, error) : FM_OK;
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

static void set_buffer(fm_encoder *encoder, const fm_argument *argument) {
    fm_binding *binding = &encoder->bindings[argument->index];
    id<MTLBuffer> buffer = argument->buffer->metal;
    if (binding->buffer != buffer)
        [encoder->commands setBuffer:buffer offset:argument->offset atIndex:argument->index];
    else if (binding->offset != argument->offset)
        [encoder->commands setBufferOffset:argument->offset atIndex:argument->index];
    else
        return;
    binding->buffer = buffer;
    binding->offset = argument->offset;
}

static void set_arguments(fm_encoder *encoder, const fm_dispatch *dispatch) {
    const fm_argument *end = dispatch->arguments + dispatch->argument_count;
    for (const fm_argument *argument = dispatch->arguments; argument < end; argument++)
        if (argument->buffer)
            set_buffer(encoder, argument);
        else
            set_bytes(encoder, argument);
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
    fm_status status = prepare(encoder, dispatch, error);
    if (status != FM_OK) return status;
    set_pipeline(encoder, dispatch->pipeline->metal);
    set_arguments(encoder, dispatch);
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
