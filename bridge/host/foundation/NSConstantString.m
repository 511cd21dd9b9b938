#import <Foundation/Foundation.h>

/* Laid out by the compiler, hence without a reference count. */
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
