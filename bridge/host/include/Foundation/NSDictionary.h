#ifndef FOUNDATION_NSDICTIONARY_H
#define FOUNDATION_NSDICTIONARY_H

#import <Foundation/NSArray.h>

NS_ASSUME_NONNULL_BEGIN

@interface NSDictionary : NSObject <NSCopying> {
    id *_keys;
    id *_objects;
    NSUInteger _count;
}
@property (readonly) NSUInteger count;
@property (readonly, copy) NSArray *allKeys;
+ (instancetype)dictionary;
+ (instancetype)dictionaryWithObjects:(const id _Nonnull *_Nullable)objects
                              forKeys:(const id<NSCopying> _Nonnull *_Nullable)keys
                                count:(NSUInteger)count;
- (nullable id)objectForKey:(id)aKey;
@end

@interface NSMutableDictionary : NSDictionary
- (void)setObject:(id)anObject forKey:(id<NSCopying>)aKey;
- (void)removeObjectForKey:(id)aKey;
@end

NS_ASSUME_NONNULL_END
#endif
