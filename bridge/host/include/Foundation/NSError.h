#ifndef FOUNDATION_NSERROR_H
#define FOUNDATION_NSERROR_H

#import <Foundation/NSDictionary.h>
#import <Foundation/NSString.h>

NS_ASSUME_NONNULL_BEGIN

typedef NSString *NSErrorDomain;
typedef NSString *NSErrorUserInfoKey;

FOUNDATION_EXPORT NSErrorUserInfoKey const NSLocalizedDescriptionKey;

@interface NSError : NSObject <NSCopying> {
    NSErrorDomain _domain;
    NSInteger _code;
    NSDictionary *_userInfo;
}
@property (readonly, copy) NSErrorDomain domain;
@property (readonly) NSInteger code;
@property (readonly, copy) NSDictionary *userInfo;
@property (readonly, copy) NSString *localizedDescription;
+ (instancetype)errorWithDomain:(NSErrorDomain)domain
                           code:(NSInteger)code
                       userInfo:(nullable NSDictionary *)dict;
@end

NS_ASSUME_NONNULL_END
#endif
