#ifndef FOUNDATION_NSSTRING_H
#define FOUNDATION_NSSTRING_H

#import <Foundation/NSObject.h>

NS_ASSUME_NONNULL_BEGIN

typedef NSUInteger NSStringEncoding;
enum { NSASCIIStringEncoding = 1, NSUTF8StringEncoding = 4 };

/* Immutable; UTF-8 inside. */
@interface NSString : NSObject <NSCopying> {
    const char *_bytes;
    unsigned int _byteCount;
}
@property (readonly) NSUInteger length; /* UTF-16 code units */
@property (nullable, readonly) const char *UTF8String;
+ (instancetype)string;
+ (nullable instancetype)stringWithUTF8String:(const char *)nullTerminatedCString;
- (nullable instancetype)initWithUTF8String:(const char *)nullTerminatedCString;
- (nullable instancetype)initWithBytes:(const void *)bytes
                                length:(NSUInteger)length
                              encoding:(NSStringEncoding)encoding;
- (NSUInteger)lengthOfBytesUsingEncoding:(NSStringEncoding)encoding;
- (BOOL)isEqualToString:(NSString *)aString;
@end

/* What the compiler makes of @"...". */
@interface NSConstantString : NSString
@end

NS_ASSUME_NONNULL_END
#endif
