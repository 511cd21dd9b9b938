#import <Foundation/Foundation.h>
#include <objc/runtime.h>
#include <pthread.h>
#include <stdlib.h>
#include "diagnostics.h"
#include "live_objects.h"
#include "object_header.h"
#include "zombie.h"

enum { SPARE_POOLS = 4 };

static _Thread_local NSAutoreleasePool *innermost;

/* Drained pools with their arrays: around every call of the bridge there is a pool. */
static _Thread_local struct spare_pools {
    NSAutoreleasePool *pools[SPARE_POOLS];
    int count;
    bool is_watched, is_ending;
} spare;

static pthread_key_t end_of_thread;

/* False: the pool has to be released. */
static bool become_spare(NSAutoreleasePool *pool) {
    if (spare.count == SPARE_POOLS || spare.is_ending || hm_zombies_are_kept()) return false;
    if (!spare.is_watched) spare.is_watched = pthread_setspecific(end_of_thread, &spare) == 0;
    if (!spare.is_watched) return false;
    hm_object_header *header = hm_header_of(pool);
    header->references = 0;
    /* Once: what is used again is not counted again, which would take as long as all the rest. */
    if (!pool->_isUncounted) hm_live_add(header->live_slot, -1);
    pool->_isUncounted = YES;
    spare.pools[spare.count++] = pool;
    return true;
}

@implementation NSAutoreleasePool

+ (instancetype)alloc {
    if (spare.count == 0) return [super alloc];
    NSAutoreleasePool *pool = spare.pools[--spare.count];
    hm_header_of(pool)->references = 1;
    return pool;
}

+ (void)addObject:(id)anObject {
    if (innermost)
        [innermost addObject:anObject];
    else
        hm_poolless(class_getName(object_getClass(anObject)));
}

- (instancetype)init {
    _outer = innermost;
    innermost = self;
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
    while (innermost && innermost != self)
        [innermost drain];
    if (!innermost) {
        hm_misuse("a pool is drained by a thread that it does not belong to");
        return;
    }
    /* What is released here may autorelease more. */
    while (_count) {
        id object = _objects[--_count];
        [object release];
    }
    innermost = _outer;
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
    spare.is_ending = true;
    while (spare.count > 0)
        [[NSAutoreleasePool alloc] release];
}

__attribute__((constructor)) static void watch_ends_of_threads(void) {
    if (pthread_key_create(&end_of_thread, end_spare_pools) != 0) abort();
}
