#include "HMComputeCommandEncoder.h"
#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include "diagnostics.h"
#include "device_limits.h"

static atomic_ullong messages;

uint64_t hm_encoder_message_count(void) {
    return messages;
}

/* Not one atomic step, which would cost more than many a message: exact for one thread. */
static void count_message(void) {
    uint64_t count = atomic_load_explicit(&messages, memory_order_relaxed);
    atomic_store_explicit(&messages, count + 1, memory_order_relaxed);
}

/* Counts a misuse, with which the command buffer will end. */
__attribute__((format(printf, 2, 3))) static void refuse(HMCommandBuffer *commandBuffer,
                                                         const char *format, ...) {
    char reason[512];
    va_list arguments, again;
    va_start(arguments, format);
    va_copy(again, arguments);
    vsnprintf(reason, sizeof reason, format, arguments);
    hm_misuse_v(format, again);
    va_end(again);
    va_end(arguments);
    [commandBuffer failBecause:reason];
}

/* Retains once for each command buffer, however often the object is set. */
static void hold(HMCommandBuffer *commandBuffer, id object, _Atomic uint64_t *holder) {
    if (!commandBuffer->_retainedReferences) return;
    /* Its own serial is there only if this thread has put it there. */
    if (atomic_load_explicit(holder, memory_order_relaxed) == commandBuffer->_serial) return;
    hm_hold(commandBuffer, object);
    atomic_store_explicit(holder, commandBuffer->_serial, memory_order_relaxed);
}

@implementation HMComputeCommandEncoder

@synthesize label = _label, dispatchType = _dispatchType;

- (instancetype)initWithCommandBuffer:(HMCommandBuffer *)commandBuffer
                         dispatchType:(MTLDispatchType)dispatchType {
    _commandBuffer = [commandBuffer retain];
    _device = (HMDevice *)commandBuffer.device;
    _dispatchType = dispatchType;
    _isOrdered = YES;
    _threadgroupMemoryLimit = _device.maxThreadgroupMemoryLength;
    return self;
}

- (void)dealloc {
    if (!_isEnded) {
        hm_misuse("a command encoder was released without endEncoding");
        [self close];
    }
    [_label release];
    [_commandBuffer release];
    [super dealloc];
}

- (id<MTLDevice>)device {
    return _device;
}

- (void)close {
    _isEnded = YES;
    [_commandBuffer closeEncoder:self];
}

- (void)endEncoding {
    count_message();
    if (_isEnded)
        hm_misuse("endEncoding was called before");
    else
        [self close];
}

/* The helpers below are functions: a message for each would cost as much as they do. */

/* NO when nothing can be recorded any more. */
static BOOL is_open(HMComputeCommandEncoder *self, const char *method) {
    if (!self->_isEnded) return YES;
    hm_misuse("%s after endEncoding", method);
    return NO;
}

static BOOL is_index(HMComputeCommandEncoder *self, NSUInteger index, const char *method) {
    if (index < MSL_MAX_BUFFERS) return YES;
    refuse(self->_commandBuffer, "%s index %lu is over %d", method, index, MSL_MAX_BUFFERS - 1);
    return NO;
}

/* ---- state ---- */

- (void)setComputePipelineState:(id<MTLComputePipelineState>)state {
    count_message();
    if (!is_open(self, "setComputePipelineState:")) return;
    HMComputePipelineState *pipeline = (HMComputePipelineState *)state;
    if (!pipeline || pipeline->_function->_device != _device) {
        refuse(_commandBuffer, "setComputePipelineState: %s",
               pipeline ? "the pipeline state belongs to another device" : "nil");
        return;
    }
    hold(_commandBuffer, pipeline, &pipeline->_holder);
    _pipeline = pipeline;
}

/* `buffer` is nil for bytes, `memory` NULL for nothing at all. */
static void bind(HMComputeCommandEncoder *self, HMBuffer *buffer, void *memory, NSUInteger length,
                 NSUInteger index) {
    uint32_t bit = UINT32_C(1) << index;
    self->_buffers[index] = buffer;
    self->_bindings[index] = (hm_binding){memory, length};
    self->_bound = memory ? self->_bound | bit : self->_bound & ~bit;
}

/* Of what may be touched. */
static NSUInteger end_after(const HMBuffer *buffer, NSUInteger offset) {
    return offset < buffer->_end ? buffer->_end : buffer->_length;
}

static void bind_at_offset(HMComputeCommandEncoder *self, HMBuffer *buffer, NSUInteger offset,
                           NSUInteger index) {
    if (offset < buffer->_length)
        bind(self, buffer, (char *)buffer->_memory + offset, end_after(buffer, offset) - offset,
             index);
    else
        refuse(self->_commandBuffer, "offset %lu is beyond the buffer of %lu bytes at index %lu",
               offset, buffer->_length, index);
}

- (void)setBytes:(const void *)bytes length:(NSUInteger)length atIndex:(NSUInteger)index {
    count_message();
    if (!is_open(self, "setBytes:length:atIndex:")) return;
    if (!is_index(self, index, "setBytes:length:atIndex:")) return;
    if (!bytes || length == 0 || length > HM_MAX_BYTES) {
        refuse(_commandBuffer, "setBytes:length:atIndex: %lu bytes, must be 1 to %d", length,
               HM_MAX_BYTES);
        return;
    }
    void *copy = hm_copy_bytes(_commandBuffer, bytes, length);
    bind(self, nil, copy, length, index);
}

- (void)setBuffer:(id<MTLBuffer>)buffer offset:(NSUInteger)offset atIndex:(NSUInteger)index {
    count_message();
    if (!is_open(self, "setBuffer:offset:atIndex:")) return;
    if (!is_index(self, index, "setBuffer:offset:atIndex:")) return;
    HMBuffer *bound = (HMBuffer *)buffer;
    if (!bound)
        bind(self, nil, NULL, 0, index);
    else if (bound->_device != _device)
        refuse(_commandBuffer,
               "setBuffer:offset:atIndex: the buffer at index %lu belongs to "
               "another device",
               index);
    else {
        hold(_commandBuffer, bound, &bound->_holder);
        bind_at_offset(self, bound, offset, index);
    }
}

- (void)setBufferOffset:(NSUInteger)offset atIndex:(NSUInteger)index {
    count_message();
    if (!is_open(self, "setBufferOffset:atIndex:")) return;
    if (!is_index(self, index, "setBufferOffset:atIndex:")) return;
    if (_buffers[index])
        bind_at_offset(self, _buffers[index], offset, index);
    else
        refuse(_commandBuffer, "setBufferOffset:atIndex: no buffer is bound at index %lu", index);
}

- (void)setThreadgroupMemoryLength:(NSUInteger)length atIndex:(NSUInteger)index {
    count_message();
    if (!is_open(self, "setThreadgroupMemoryLength:atIndex:")) return;
    if (!is_index(self, index, "setThreadgroupMemoryLength:atIndex:")) return;
    if (length % HM_THREADGROUP_MEMORY_STEP || length > UINT32_MAX)
        refuse(_commandBuffer, "a threadgroup memory length of %lu bytes is not a multiple of %d",
               length, HM_THREADGROUP_MEMORY_STEP);
    else {
        _memory[index] = (uint32_t)length;
        if (_memoryCount <= index) _memoryCount = (uint32_t)index + 1;
    }
}

/* The host runs dispatches in order, so that only checks ask for barriers. */
- (void)memoryBarrierWithScope:(MTLBarrierScope)scope {
    count_message();
    if (!is_open(self, "memoryBarrierWithScope:")) return;
    if (scope & MTLBarrierScopeBuffers) _isOrdered = YES;
}

/* ---- dispatch ---- */

static const char *kernel_name(HMComputeCommandEncoder *self) {
    return self->_pipeline->_function->_kernel->name;
}

/* NO when `size` is not empty. */
static BOOL refuse_empty(HMComputeCommandEncoder *self, const char *what,
                         const NSUInteger size[3]) {
    for (int i = 0; i < 3; i++) {
        if (size[i]) continue;
        refuse(self->_commandBuffer,
               "kernel %s: validation: %s, %lu x %lu x %lu threads: none of the three may be 0",
               kernel_name(self), what, size[0], size[1], size[2]);
        return YES;
    }
    return NO;
}

static BOOL refuse_grid(HMComputeCommandEncoder *self, const NSUInteger grid[3],
                        const NSUInteger threads[3]) {
    NSUInteger limit = self->_pipeline->_maxTotalThreadsPerThreadgroup;
    if (refuse_empty(self, "empty threadgroups", threads) ||
        refuse_empty(self, "an empty grid", grid))
        return NO;
    for (int i = 0; i < 3; i++) {
        if (grid[i] - 1 < UINT32_MAX && threads[i] - 1 < limit) continue;
        refuse(self->_commandBuffer,
               "kernel %s: a grid of %lu threads in threadgroups of %lu, dimension %d",
               kernel_name(self), grid[i], threads[i], i);
        return NO;
    }
    refuse(self->_commandBuffer,
           "kernel %s: %lu threads per threadgroup are more than the %lu of its pipeline state",
           kernel_name(self), threads[0] * threads[1] * threads[2], limit);
    return NO;
}

/* A size of 0 wraps to one that is over every limit. */
static BOOL is_grid(HMComputeCommandEncoder *self, const NSUInteger grid[3],
                    const NSUInteger threads[3]) {
    NSUInteger limit = self->_pipeline->_maxTotalThreadsPerThreadgroup;
    BOOL isInside = grid[0] - 1 < UINT32_MAX && grid[1] - 1 < UINT32_MAX &&
                    grid[2] - 1 < UINT32_MAX && threads[0] - 1 < limit && threads[1] - 1 < limit &&
                    threads[2] - 1 < limit && threads[0] * threads[1] * threads[2] <= limit;
    return isInside || refuse_grid(self, grid, threads);
}

static BOOL is_everything_bound(HMComputeCommandEncoder *self) {
    uint32_t missing = self->_pipeline->_usedBuffers & ~self->_bound;
    if (!missing) return YES;
    refuse(self->_commandBuffer, "kernel %s: nothing is bound to buffer index %d",
           kernel_name(self), __builtin_ctz(missing));
    return NO;
}

static BOOL is_threadgroup_memory_there(HMComputeCommandEncoder *self) {
    NSUInteger bytes = self->_pipeline->_staticThreadgroupMemoryLength;
    for (uint32_t rest = self->_pipeline->_declaredThreadgroupMemory; rest; rest &= rest - 1)
        bytes += self->_memory[__builtin_ctz(rest)];
    if (bytes <= self->_threadgroupMemoryLimit) return YES;
    refuse(self->_commandBuffer,
           "kernel %s: %lu bytes of threadgroup memory are more than the device's %lu",
           kernel_name(self), bytes, self->_threadgroupMemoryLimit);
    return NO;
}

static BOOL can_dispatch(HMComputeCommandEncoder *self, const NSUInteger grid[3],
                         const NSUInteger threads[3]) {
    if (self->_pipeline)
        return is_grid(self, grid, threads) && is_everything_bound(self) &&
               is_threadgroup_memory_there(self);
    refuse(self->_commandBuffer, "a dispatch without a compute pipeline state");
    return NO;
}

/* `grid` in threads. */
static void dispatch(HMComputeCommandEncoder *self, const NSUInteger grid[3],
                     const NSUInteger threads[3]) {
    if (!can_dispatch(self, grid, threads)) return;
    HMComputePipelineState *pipeline = self->_pipeline;
    uint32_t count = self->_bound ? 32 - (uint32_t)__builtin_clz(self->_bound) : 0;
    hm_dispatch *command = hm_add_command(self->_commandBuffer, HM_COMMAND_DISPATCH,
                                          hm_dispatch_size(count, self->_memoryCount));
    if (!command) return;
    command->equivalent = pipeline->_equivalent;
    command->library = pipeline->_function->_library;
    command->kernel = pipeline->_function->_kernel;
    command->ordered = self->_isOrdered;
    self->_isOrdered = self->_dispatchType == MTLDispatchTypeSerial;
    for (int i = 0; i < 3; i++) {
        command->threads[i] = (uint32_t)grid[i];
        command->threads_per_threadgroup[i] = (uint32_t)threads[i];
    }
    command->binding_count = count;
    command->memory_count = self->_memoryCount;
    memcpy(command->bindings, self->_bindings, count * sizeof(hm_binding));
    uint32_t *memory = (uint32_t *)(command->bindings + count);
    for (uint32_t i = 0; i < self->_memoryCount; i++)
        memory[i] = self->_memory[i];
}

- (void)dispatchThreadgroups:(MTLSize)threadgroupsPerGrid
       threadsPerThreadgroup:(MTLSize)threadsPerThreadgroup {
    count_message();
    if (!is_open(self, "dispatchThreadgroups:threadsPerThreadgroup:")) return;
    const NSUInteger groups[3] = {threadgroupsPerGrid.width, threadgroupsPerGrid.height,
                                  threadgroupsPerGrid.depth};
    const NSUInteger threads[3] = {threadsPerThreadgroup.width, threadsPerThreadgroup.height,
                                   threadsPerThreadgroup.depth};
    NSUInteger grid[3];
    for (int i = 0; i < 3; i++)
        if (__builtin_mul_overflow(groups[i], threads[i], &grid[i])) grid[i] = ~(NSUInteger)0;
    dispatch(self, grid, threads);
}

- (void)dispatchThreads:(MTLSize)threadsPerGrid
    threadsPerThreadgroup:(MTLSize)threadsPerThreadgroup {
    count_message();
    if (!is_open(self, "dispatchThreads:threadsPerThreadgroup:")) return;
    const NSUInteger grid[3] = {threadsPerGrid.width, threadsPerGrid.height, threadsPerGrid.depth};
    const NSUInteger threads[3] = {threadsPerThreadgroup.width, threadsPerThreadgroup.height,
                                   threadsPerThreadgroup.depth};
    dispatch(self, grid, threads);
}

@end
