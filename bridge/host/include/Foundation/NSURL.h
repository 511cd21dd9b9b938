#ifndef FOUNDATION_NSURL_H
#define FOUNDATION_NSURL_H

#import <Foundation/NSString.h>

NS_ASSUME_NONNULL_BEGIN

/* File URLs only. */
@interface NSURL : NSObject <NSCopying> {
    NSString *_path;
}
@property (nullable, readonly, copy) NSString *path;
+ (instancetype)fileURLWithPath:(NSString *)path;
@end

NS_ASSUME_NONNULL_END
#endif
