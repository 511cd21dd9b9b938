#import <Foundation/Foundation.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include "utf8.h"

@implementation NSString

+ (instancetype)string {
    return [[[self alloc] initWithBytes:"" length:0 encoding:NSUTF8StringEncoding] autorelease];
}

+ (instancetype)stringWithUTF8String:(const char *)nullTerminatedCString {
    return [[[self alloc] initWithUTF8String:nullTerminatedCString] autorelease];
}

- (instancetype)initWithUTF8String:(const char *)nullTerminatedCString {
    return [self initWithBytes:nullTerminatedCString
                        length:strlen(nullTerminatedCString)
                      encoding:NSUTF8StringEncoding];
}

- (instancetype)initWithBytes:(const void *)bytes
                       length:(NSUInteger)length
                     encoding:(NSStringEncoding)encoding {
    BOOL known = encoding == NSUTF8StringEncoding || encoding == NSASCIIStringEncoding;
    char *text = NULL;
    if (known && length < UINT_MAX && hm_utf8_is_valid(bytes, length)) text = malloc(length + 1);
    if (!text) {
        [self release];
        return nil;
    }
    memcpy(text, bytes, length);
    text[length] = '\0';
    _bytes = text;
    _byteCount = (unsigned int)length;
    return self;
}

- (void)dealloc {
    free((void *)_bytes);
    [super dealloc];
}

- (id)copyWithZone:(NSZone *)zone {
    (void)zone;
    return [self retain];
}

- (NSUInteger)length {
    return hm_utf8_utf16_length(_bytes, _byteCount);
}

- (const char *)UTF8String {
    return _bytes;
}

- (NSUInteger)lengthOfBytesUsingEncoding:(NSStringEncoding)encoding {
    return encoding == NSUTF8StringEncoding ? _byteCount : 0;
}

- (BOOL)isEqualToString:(NSString *)aString {
    return aString && _byteCount == aString->_byteCount &&
           memcmp(_bytes, aString->_bytes, _byteCount) == 0;
}

- (BOOL)isEqual:(id)object {
    return object == self ||
           ([object isKindOfClass:[NSString class]] && [self isEqualToString:object]);
}

- (NSUInteger)hash {
    NSUInteger hash = 0xcbf29ce484222325; /* FNV-1a */
    for (unsigned int i = 0; i < _byteCount; i++)
        hash = (hash ^ (unsigned char)_bytes[i]) * 0x100000001b3;
    return hash;
}

- (NSString *)description {
    return self;
}

@end

/* Laid out by the compiler, hence without a reference count. In this file because the compiler
 * names the class in a text only, which makes no linker take it out of a library. */
@implementation NSConstantString

- (instancetype)retain {
    return self;
}

- (oneway void)release {
}

- (instancetype)autorelease {
    return self;
}

- (NSUInteger)retainCount {
    return ~(NSUInteger)0;
}

@end
