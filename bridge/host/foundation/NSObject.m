#import <Foundation/Foundation.h>
#include <objc/message.h>
#include <objc/runtime.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "diagnostics.h"
#include "live_objects.h"
#include "object_header.h"
#include "zombie.h"

static IMP unrecognized(id object, SEL selector) {
    Class class = object_getClass(object);
    fprintf(stderr, "host Metal: %c[%s %s]: unrecognized selector\n",
            class_isMetaClass(class) ? '+' : '-', class_getName(class), sel_getName(selector));
    abort();
}

@implementation NSObject

+ (void)load {
    /* Without it libobjc would call whatever a missing method resolves to. */
    __objc_msg_forward2 = unrecognized;
}

+ (instancetype)alloc {
    Class class = (Class)self;
    size_t size = sizeof(hm_object_header) + class_getInstanceSize(class);
    hm_object_header *header = malloc(size);
    if (!header) return nil;
    /* Keeps this from becoming a calloc, to which glibc gives no memory of the thread's cache. */
    __asm__("" : "+r"(header));
    memset(header, 0, size);
    header->references = 1;
    header->live_slot = hm_live_slot(class_getName(class));
    hm_live_add(header->live_slot, 1);
    id object = (id)(void *)(header + 1);
    object_setClass(object, class);
    return object;
}

+ (instancetype)new {
    return [[self alloc] init];
}

+ (Class)class {
    return (Class)self;
}

+ (BOOL)instancesRespondToSelector:(SEL)aSelector {
    return class_respondsToSelector((Class)self, aSelector);
}

/* A class is an object without a header. */
+ (instancetype)retain {
    return (id)self;
}

+ (oneway void)release {
}

+ (instancetype)autorelease {
    return (id)self;
}

+ (NSUInteger)retainCount {
    return ~(NSUInteger)0;
}

- (instancetype)init {
    return self;
}

- (void)dealloc {
    hm_object_header *header = hm_header_of(self);
    hm_live_add(header->live_slot, -1);
    if (hm_zombies_are_kept())
        hm_zombie_make(self);
    else
        free(header);
}

- (instancetype)retain {
    return hm_retain(self);
}

- (oneway void)release {
    atomic_int *references = &hm_header_of(self)->references;
    /* Nobody else can retain what the caller alone holds: no need for the dearer, atomic step. */
    int before = atomic_load_explicit(references, memory_order_acquire);
    if (before == 1)
        atomic_store_explicit(references, 0, memory_order_relaxed);
    else
        before = atomic_fetch_sub_explicit(references, 1, memory_order_acq_rel);
    if (before == 1)
        [self dealloc];
    else if (before < 1)
        hm_over_release(class_getName(object_getClass(self)));
}

- (instancetype)autorelease {
    [NSAutoreleasePool addObject:self];
    return self;
}

- (NSUInteger)retainCount {
    return (NSUInteger)hm_header_of(self)->references;
}

- (BOOL)isEqual:(id)object {
    return object == self;
}

- (NSUInteger)hash {
    return (NSUInteger)self / sizeof(hm_object_header);
}

- (Class)class {
    return object_getClass(self);
}

- (BOOL)isKindOfClass:(Class)aClass {
    Class class = object_getClass(self);
    while (class && class != aClass)
        class = class_getSuperclass(class);
    return class != Nil;
}

- (BOOL)respondsToSelector:(SEL)aSelector {
    return class_respondsToSelector(object_getClass(self), aSelector);
}

- (NSString *)description {
    char text[128];
    snprintf(text, sizeof text, "<%s: %p>", class_getName(object_getClass(self)), (void *)self);
    return [NSString stringWithUTF8String:text];
}

- (id)copy {
    return [(id<NSCopying>)self copyWithZone:NULL];
}

@end
