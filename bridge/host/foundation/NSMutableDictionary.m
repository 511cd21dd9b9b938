#import <Foundation/Foundation.h>
#include <stdlib.h>

@implementation NSMutableDictionary

- (id)copyWithZone:(NSZone *)zone {
    (void)zone;
    return [[NSDictionary dictionaryWithObjects:_objects forKeys:_keys count:_count] retain];
}

- (void)removeObjectForKey:(id)aKey {
    for (NSUInteger i = 0; i < _count; i++) {
        if (![_keys[i] isEqual:aKey]) continue;
        [_keys[i] release];
        [_objects[i] release];
        _count--;
        _keys[i] = _keys[_count];
        _objects[i] = _objects[_count];
        return;
    }
}

- (void)setObject:(id)anObject forKey:(id<NSCopying>)aKey {
    id key = [aKey copyWithZone:NULL], object = [anObject retain];
    [self removeObjectForKey:key];
    size_t bytes = (_count + 1) * sizeof(id);
    id *keys = (id *)realloc(_keys, bytes);
    if (!keys) abort();
    _keys = keys;
    id *objects = (id *)realloc(_objects, bytes);
    if (!objects) abort();
    _objects = objects;
    _keys[_count] = key;
    _objects[_count] = object;
    _count++;
}

@end
