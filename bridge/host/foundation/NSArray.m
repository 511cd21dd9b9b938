#import <Foundation/Foundation.h>
#include <stdlib.h>
#include "diagnostics.h"

@implementation NSArray

+ (instancetype)array {
    return [self arrayWithObjects:NULL count:0];
}

+ (instancetype)arrayWithObjects:(const id *)objects count:(NSUInteger)count {
    NSArray *array = [[[self alloc] init] autorelease];
    if (count == 0) return array;
    array->_objects = (id *)calloc(count, sizeof(id));
    if (!array->_objects) return nil;
    for (NSUInteger i = 0; i < count; i++)
        array->_objects[i] = [objects[i] retain];
    array->_count = count;
    return array;
}

- (void)dealloc {
    for (NSUInteger i = 0; i < _count; i++)
        [_objects[i] release];
    free(_objects);
    [super dealloc];
}

- (id)copyWithZone:(NSZone *)zone {
    (void)zone;
    return [self retain];
}

- (NSUInteger)count {
    return _count;
}

- (id)objectAtIndex:(NSUInteger)index {
    if (index < _count) return _objects[index];
    hm_misuse("objectAtIndex: %lu is beyond the end of an array of %lu", index, _count);
    return nil;
}

@end
