#ifndef HM_COMMANDBUFFER_H
#define HM_COMMANDBUFFER_H

#include <pthread.h>
#include <string.h>
#include "HMCommandQueue.h"
#include "arena.h"
#include "commands.h"
#include "object_header.h"

@class HMComputeCommandEncoder;

@interface HMCommandBuffer : NSObject <MTLCommandBuffer> {
  @public
    HMCommandQueue *_queue; /* owned */
    NSString *_label;       /* owned */
    uint64_t _serial;       /* unique, so that a buffer knows who retained it last */
    BOOL _retainedReferences;
    MTLCommandBufferErrorOption _errorOptions;

    hm_arena _arena;
    hm_command *_firstCommand, **_nextCommand;
    id *_held; /* what the commands need, owned until completion */
    NSUInteger _heldCount, _heldCapacity;
    HMComputeCommandEncoder *_openEncoder; /* borrowed */
    NSString **_encoderLabels;             /* owned, by number; nil where there is none */
    uint32_t _encoderCount;
    char *_failure; /* owned: why it fails without being run; NULL: it does not */

    MTLCommandBufferHandler *_handlers; /* owned, as is each */
    NSUInteger _handlerCount;

    pthread_mutex_t _lock;
    pthread_cond_t _completed;
    _Atomic NSUInteger _status;
    BOOL _isDone;    /* after the handlers */
    NSError *_error; /* owned */
    CFTimeInterval _start, _end;
}
- (instancetype)initWithQueue:(HMCommandQueue *)queue
           retainedReferences:(BOOL)retainedReferences
                 errorOptions:(MTLCommandBufferErrorOption)errorOptions;

/* Once closed the encoder is known by its label only. */
- (void)closeEncoder:(HMComputeCommandEncoder *)encoder;
/* It will end with an error. The first reason stays. */
- (void)failBecause:(const char *)reason;

/* On the queue's thread, or within commit. */
- (void)completeWithError:(NSError *)error start:(CFTimeInterval)start end:(CFTimeInterval)end;
@end

/* For recording, functions: messages, and even calls, would cost as much as what they do. */

/* Fails for want of memory; gives NULL. */
void *hm_fail_to_record(HMCommandBuffer *commandBuffer);

/* Room of `size` bytes for a command, already in the list; NULL: no memory, and it will fail. */
static inline void *hm_add_command(HMCommandBuffer *self, hm_command_kind kind, size_t size) {
    hm_command *command = hm_arena_allocate(&self->_arena, size);
    if (!command) return hm_fail_to_record(self);
    command->next = NULL;
    command->kind = kind;
    command->encoder = self->_encoderCount - 1;
    *self->_nextCommand = command;
    self->_nextCommand = &command->next;
    return command;
}

/* A copy that lives as long as the command buffer; NULL as above. */
static inline void *hm_copy_bytes(HMCommandBuffer *self, const void *bytes, size_t length) {
    void *copy = hm_arena_allocate(&self->_arena, length);
    return copy ? memcpy(copy, bytes, length) : hm_fail_to_record(self);
}

void hm_hold_more(HMCommandBuffer *commandBuffer);

/* Retains `object` until completion. */
static inline void hm_hold(HMCommandBuffer *self, id object) {
    if (self->_heldCount == self->_heldCapacity) hm_hold_more(self);
    self->_held[self->_heldCount++] = hm_retain(object);
}

#endif
