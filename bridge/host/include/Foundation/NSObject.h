#ifndef FOUNDATION_NSOBJECT_H
#define FOUNDATION_NSOBJECT_H

#import <Foundation/NSObjCRuntime.h>

NS_ASSUME_NONNULL_BEGIN

@class NSString;

@protocol NSObject
- (instancetype)retain;
- (oneway void)release;
- (instancetype)autorelease;
- (NSUInteger)retainCount;
- (BOOL)isEqual:(nullable id)object;
- (NSUInteger)hash;
- (Class)class;
- (BOOL)isKindOfClass:(Class)aClass;
- (BOOL)respondsToSelector:(SEL)aSelector;
- (NSString *)description;
@end

@protocol NSCopying
- (id)copyWithZone:(nullable NSZone *)zone;
@end

/* The reference count lies in front of the object: constant strings, which the compiler lays out,
 * have no room for one. */
__attribute__((objc_root_class))
@interface NSObject<NSObject> {
    Class isa;
}
+ (instancetype)alloc;
+ (instancetype)new;
+ (Class)class;
+ (BOOL)instancesRespondToSelector:(SEL)aSelector;
- (instancetype)init;
- (void)dealloc;
- (id)copy;
@end

NS_ASSUME_NONNULL_END
#endif
