#import <Foundation/Foundation.h>
#include <objc/runtime.h>
#include <pthread.h>
#include <stdlib.h>
#include "diagnostics.h"
#include "live_objects.h"
#include "object_header.h"
#include "zombie.h"

enum { SPARE_POOLS = 4 };

/* Drained pools are kept with their arrays: around every call of the bridge there is a pool. A pool
 * knows the record of its thread, to which the way is long in a shared library. */
typedef struct hm_thread_pools {
    NSAutoreleasePool *innermost;
    NSAutoreleasePool *spare[SPARE_POOLS];
    int spareCount;
    bool isWatched, isEnding;
} hm_thread_pools;

static _Thread_local hm_thread_pools mine;

static pthread_key_t end_of_thread;

/* False: the pool has to be released. */
static bool become_spare(NSAutoreleasePool *pool) {
    hm_thread_pools *thread = pool->_thread;
    if (thread->spareCount == SPARE_POOLS || thread->isEnding || hm_zombies_are_kept())
        return false;
    if (!thread->isWatched) thread->isWatched = pthread_setspecific(end_of_thread, thread) == 0;
    if (!thread->isWatched) return false;
    hm_object_header *header = hm_header_of(pool);
    header->references = 0;
    /* Once: what is used again is not counted again, which would take as long as all the rest. */
    if (!pool->_isUncounted) hm_live_add(header->live_slot, -1);
    pool->_isUncounted = YES;
    thread->spare[thread->spareCount++] = pool;
    return true;
}

@implementation NSAutoreleasePool

+ (instancetype)alloc {
    hm_thread_pools *thread = &mine;
    NSAutoreleasePool *pool;
    if (thread->spareCount) {
        pool = thread->spare[--thread->spareCount];
        hm_header_of(pool)->references = 1;
    } else {
        pool = [super alloc];
        pool->_thread = thread;
    }
    return pool;
}

+ (void)addObject:(id)anObject {
    NSAutoreleasePool *innermost = mine.innermost;
    if (innermost)
        [innermost addObject:anObject];
    else
        hm_poolless(class_getName(object_getClass(anObject)));
}

- (instancetype)init {
    _outer = _thread->innermost;
    _thread->innermost = self;
    return self;
}

- (void)addObject:(id)anObject {
    if (_count == _capacity) {
        NSUInteger capacity = _capacity ? 2 * _capacity : 16;
        id *objects = (id *)realloc(_objects, capacity * sizeof(id));
        if (!objects) abort();
        _objects = objects;
        _capacity = capacity;
    }
    _objects[_count++] = anObject;
}

- (instancetype)autorelease {
    hm_misuse("a pool must be drained, not autoreleased");
    return self;
}

- (void)drain {
    if (_thread != &mine) {
        hm_misuse("a pool is drained by a thread that it does not belong to");
        return;
    }
    while (_thread->innermost != self) {
        if (!_thread->innermost) {
            hm_misuse("a pool is drained that was drained before");
            return;
        }
        [_thread->innermost drain];
    }
    /* What is released here may autorelease more. */
    while (_count) {
        id object = _objects[--_count];
        [object release];
    }
    _thread->innermost = _outer;
    if (!become_spare(self)) [self release];
}

- (void)dealloc {
    free(_objects);
    if (_isUncounted) hm_live_add(hm_header_of(self)->live_slot, 1);
    [super dealloc];
}

@end

static void end_spare_pools(void *unused) {
    (void)unused;
    mine.isEnding = true;
    while (mine.spareCount > 0)
        [[NSAutoreleasePool alloc] release];
}

__attribute__((constructor)) static void watch_ends_of_threads(void) {
    if (pthread_key_create(&end_of_thread, end_spare_pools) != 0) abort();
}
