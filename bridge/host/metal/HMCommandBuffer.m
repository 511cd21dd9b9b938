#include "HMCommandBuffer.h"
#include <Block.h>
#include <stdatomic.h>
#include <stdlib.h>
#include "HMComputeCommandEncoder.h"
#include "diagnostics.h"
#include "execution.h"
#include "faults.h"

/* Makes room for one more pointer; aborts without memory, as a half-recorded command buffer would
 * be worse. */
static void *grown(void *array, size_t count) {
    void *larger = realloc(array, (count + 1) * sizeof(void *));
    if (!larger) abort();
    return larger;
}

/* ---- recording ---- */

void *hm_fail_to_record(HMCommandBuffer *self) {
    [self failBecause:"no memory to record a command"];
    return NULL;
}

void hm_hold_more(HMCommandBuffer *self) {
    self->_heldCapacity = self->_heldCapacity ? 2 * self->_heldCapacity : 256;
    self->_held = (id *)realloc(self->_held, self->_heldCapacity * sizeof(id));
    if (!self->_held) abort();
}

@implementation HMCommandBuffer

@synthesize label = _label, retainedReferences = _retainedReferences, errorOptions = _errorOptions;

- (instancetype)initWithQueue:(HMCommandQueue *)queue
           retainedReferences:(BOOL)retainedReferences
                 errorOptions:(MTLCommandBufferErrorOption)errorOptions {
    static atomic_ullong serials;
    _queue = [queue retain];
    _serial = atomic_fetch_add(&serials, 1) + 1;
    _retainedReferences = retainedReferences;
    _errorOptions = errorOptions;
    _nextCommand = &_firstCommand;
    pthread_mutex_init(&_lock, NULL);
    pthread_cond_init(&_completed, NULL);
    return self;
}

- (void)dealloc {
    [self releaseRecorded];
    for (NSUInteger i = 0; i < _handlerCount; i++)
        Block_release(_handlers[i]);
    free(_handlers);
    for (uint32_t i = 0; i < _encoderCount; i++)
        [_encoderLabels[i] release];
    free(_encoderLabels);
    free(_failure);
    pthread_cond_destroy(&_completed);
    pthread_mutex_destroy(&_lock);
    if (_status < MTLCommandBufferStatusCompleted) [_queue commandBufferLeft];
    [_error release];
    [_label release];
    [_queue release];
    [super dealloc];
}

- (void)releaseRecorded {
    for (NSUInteger i = 0; i < _heldCount; i++)
        [_held[i] release];
    free(_held);
    _held = NULL;
    _heldCount = _heldCapacity = 0;
    _firstCommand = NULL;
    hm_arena_free(&_arena);
}

/* A handler may have captured the command buffer. */
- (void)releaseHandlers {
    for (NSUInteger i = 0; i < _handlerCount; i++)
        Block_release(_handlers[i]);
    free(_handlers);
    _handlers = NULL;
    _handlerCount = 0;
}

- (void)failBecause:(const char *)reason {
    if (!_failure) _failure = strdup(reason);
}

- (id<MTLComputeCommandEncoder>)computeCommandEncoder {
    return [self computeCommandEncoderWithDispatchType:MTLDispatchTypeSerial];
}

- (id<MTLComputeCommandEncoder>)computeCommandEncoderWithDispatchType:
    (MTLDispatchType)dispatchType {
    if (hm_fault_fires("encoder", NULL)) return nil;
    if ([self refusesRecording:"computeCommandEncoder"]) return nil;
    _encoderLabels = grown(_encoderLabels, _encoderCount);
    _encoderLabels[_encoderCount++] = nil;
    _openEncoder = [[HMComputeCommandEncoder alloc] initWithCommandBuffer:self
                                                             dispatchType:dispatchType];
    return [_openEncoder autorelease];
}

- (BOOL)refusesRecording:(const char *)method {
    if (_status >= MTLCommandBufferStatusCommitted)
        hm_misuse("%s after the command buffer was committed", method);
    else if (_openEncoder)
        hm_misuse("%s while another encoder of the command buffer is open", method);
    else
        return NO;
    return YES;
}

- (void)closeEncoder:(HMComputeCommandEncoder *)encoder {
    _encoderLabels[_encoderCount - 1] = [encoder.label copy];
    _openEncoder = nil;
}

- (void)encodeSignalEvent:(id<MTLEvent>)event value:(uint64_t)value {
    [self addEvent:(HMSharedEvent *)event value:value kind:HM_COMMAND_SIGNAL];
}

- (void)encodeWaitForEvent:(id<MTLEvent>)event value:(uint64_t)value {
    [self addEvent:(HMSharedEvent *)event value:value kind:HM_COMMAND_WAIT];
}

- (void)addEvent:(HMSharedEvent *)event value:(uint64_t)value kind:(hm_command_kind)kind {
    if ([self refusesRecording:"encoding an event"]) return;
    hm_event_command *command = hm_add_command(self, kind, sizeof *command);
    if (!command) return;
    hm_hold(self, event);
    command->event = event;
    command->value = value;
}

- (void)addCompletedHandler:(MTLCommandBufferHandler)block {
    if (_status >= MTLCommandBufferStatusCommitted) {
        hm_misuse("addCompletedHandler: after the command buffer was committed");
        return;
    }
    _handlers = grown(_handlers, _handlerCount);
    _handlers[_handlerCount++] = Block_copy(block);
}

/* ---- execution ---- */

- (void)commit {
    if (_status >= MTLCommandBufferStatusCommitted) {
        hm_misuse("commit of a command buffer that was committed before");
        return;
    }
    if (_openEncoder) {
        hm_misuse("commit of a command buffer with an open encoder");
        [self failBecause:"an encoder was open when the command buffer was committed"];
        [_openEncoder endEncoding];
    }
    _status = MTLCommandBufferStatusCommitted;
    /* A handler may drop the last other references to both. */
    HMCommandQueue *queue = [_queue retain];
    [self retain];
    if (![queue submit:self]) {
        [self failBecause:"no thread could be started for the command queue"];
        HMExecute(self);
    }
    [self release];
    [queue release];
}

- (void)waitUntilCompleted {
    if (_status < MTLCommandBufferStatusCommitted) {
        hm_misuse("waitUntilCompleted before the command buffer was committed");
        return;
    }
    pthread_mutex_lock(&_lock);
    while (!_isDone)
        pthread_cond_wait(&_completed, &_lock);
    pthread_mutex_unlock(&_lock);
}

- (void)completeWithError:(NSError *)error start:(CFTimeInterval)start end:(CFTimeInterval)end {
    _error = [error retain];
    _start = start;
    _end = end;
    [self releaseRecorded];
    _status = error ? MTLCommandBufferStatusError : MTLCommandBufferStatusCompleted;
    /* Before the handlers, which may want a new command buffer. */
    [_queue commandBufferLeft];
    for (NSUInteger i = 0; i < _handlerCount; i++)
        _handlers[i](self);
    [self releaseHandlers];
    pthread_mutex_lock(&_lock);
    _isDone = YES;
    pthread_cond_broadcast(&_completed);
    pthread_mutex_unlock(&_lock);
}

/* ---- properties ---- */

- (id<MTLDevice>)device {
    return _queue.device;
}

- (id<MTLCommandQueue>)commandQueue {
    return _queue;
}

- (MTLCommandBufferStatus)status {
    return (MTLCommandBufferStatus)_status;
}

- (NSError *)error {
    return _status == MTLCommandBufferStatusError ? _error : nil;
}

- (CFTimeInterval)GPUStartTime {
    return _status >= MTLCommandBufferStatusCompleted ? _start : 0;
}

- (CFTimeInterval)GPUEndTime {
    return _status >= MTLCommandBufferStatusCompleted ? _end : 0;
}

@end
