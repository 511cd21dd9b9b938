#import <Foundation/Foundation.h>
#include <objc/runtime.h>
#include <stdlib.h>
#include "diagnostics.h"

static _Thread_local NSAutoreleasePool *innermost;

@implementation NSAutoreleasePool

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
    [self release];
}

- (void)dealloc {
    free(_objects);
    [super dealloc];
}

@end
