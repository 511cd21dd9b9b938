#ifndef FOUNDATION_NSAUTORELEASEPOOL_H
#define FOUNDATION_NSAUTORELEASEPOOL_H

#import <Foundation/NSObject.h>

NS_ASSUME_NONNULL_BEGIN

/* Pools of one thread are nested; draining one drains those made after it. The compiler turns
 * @autoreleasepool into messages to this class. */
@interface NSAutoreleasePool : NSObject {
    id *_objects;
    NSUInteger _count, _capacity;
    NSAutoreleasePool *_outer;

  @package
    struct hm_thread_pools *_thread; /* whose pool it is */
    BOOL _isUncounted;               /* among the live objects: it was drained once, and kept */
}
+ (void)addObject:(id)anObject;
- (void)addObject:(id)anObject;
- (void)drain;
@end

NS_ASSUME_NONNULL_END
#endif
