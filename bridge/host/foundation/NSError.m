#import <Foundation/Foundation.h>
#include <stdio.h>

NSErrorUserInfoKey const NSLocalizedDescriptionKey = @"NSLocalizedDescription";

@implementation NSError

+ (instancetype)errorWithDomain:(NSErrorDomain)domain
                           code:(NSInteger)code
                       userInfo:(NSDictionary *)dict {
    NSError *error = [[[self alloc] init] autorelease];
    error->_domain = [domain copy];
    error->_code = code;
    error->_userInfo = [(dict ? dict : [NSDictionary dictionary]) copy];
    return error;
}

- (void)dealloc {
    [_domain release];
    [_userInfo release];
    [super dealloc];
}

- (id)copyWithZone:(NSZone *)zone {
    (void)zone;
    return [self retain];
}

- (NSErrorDomain)domain {
    return _domain;
}

- (NSInteger)code {
    return _code;
}

- (NSDictionary *)userInfo {
    return _userInfo;
}

- (NSString *)localizedDescription {
    NSString *text = [_userInfo objectForKey:NSLocalizedDescriptionKey];
    if (text) return text;
    char fallback[256];
    snprintf(fallback, sizeof fallback, "The operation couldn’t be completed. (%s error %ld.)",
             _domain.UTF8String, _code);
    return [NSString stringWithUTF8String:fallback];
}

- (NSString *)description {
    return [self localizedDescription];
}

@end
