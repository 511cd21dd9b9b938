#import <Foundation/Foundation.h>
#include <stdlib.h>

/* A list of pairs: the bridge's dictionaries have a handful of entries. */
@implementation NSDictionary

+ (instancetype)dictionary {
    return [self dictionaryWithObjects:NULL forKeys:NULL count:0];
}

+ (instancetype)dictionaryWithObjects:(const id *)objects
                              forKeys:(const id<NSCopying> *)keys
                                count:(NSUInteger)count {
    NSDictionary *dictionary = [[[self alloc] init] autorelease];
    if (count == 0) return dictionary;
    dictionary->_keys = (id *)calloc(count, sizeof(id));
    dictionary->_objects = (id *)calloc(count, sizeof(id));
    if (!dictionary->_keys || !dictionary->_objects) return nil;
    for (NSUInteger i = 0; i < count; i++) {
        dictionary->_keys[i] = [keys[i] copyWithZone:NULL];
        dictionary->_objects[i] = [objects[i] retain];
    }
    dictionary->_count = count;
    return dictionary;
}

- (void)dealloc {
    for (NSUInteger i = 0; i < _count; i++) {
        [_keys[i] release];
        [_objects[i] release];
    }
    free(_keys);
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

- (NSArray *)allKeys {
    return [NSArray arrayWithObjects:_keys count:_count];
}

- (id)objectForKey:(id)aKey {
    for (NSUInteger i = 0; i < _count; i++)
        if ([_keys[i] isEqual:aKey]) return _objects[i];
    return nil;
}

@end
