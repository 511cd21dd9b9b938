#ifndef FOUNDATION_NSARRAY_H
#define FOUNDATION_NSARRAY_H

#import <Foundation/NSObject.h>

NS_ASSUME_NONNULL_BEGIN

@interface NSArray : NSObject <NSCopying> {
    id *_objects;
    NSUInteger _count;
}
@property (readonly) NSUInteger count;
+ (instancetype)array;
+ (instancetype)arrayWithObjects:(const id _Nonnull *_Nullable)objects count:(NSUInteger)count;
- (id)objectAtIndex:(NSUInteger)index;
@end

NS_ASSUME_NONNULL_END
#endif
