#ifndef HM_COMMANDBUFFER_H
#define HM_COMMANDBUFFER_H

#include <pthread.h>
#include "HMCommandQueue.h"
#include "arena.h"
#include "commands.h"

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

/* For recording, functions: messages would cost as much as what they do. */

/* Room of `size` bytes for a command, already in the list; NULL: no memory, and it will fail. */
void *hm_add_command(HMCommandBuffer *commandBuffer, hm_command_kind kind, size_t size);
/* A copy that lives as long as the command buffer; NULL as above. */
void *hm_copy_bytes(HMCommandBuffer *commandBuffer, const void *bytes, size_t length);
/* Retains `object` until completion. */
void hm_hold(HMCommandBuffer *commandBuffer, id object);

#endif
