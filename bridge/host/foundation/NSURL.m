#import <Foundation/Foundation.h>

@implementation NSURL

+ (instancetype)fileURLWithPath:(NSString *)path {
    NSURL *url = [[[self alloc] init] autorelease];
    url->_path = [path copy];
    return url;
}

- (void)dealloc {
    [_path release];
    [super dealloc];
}

- (id)copyWithZone:(NSZone *)zone {
    (void)zone;
    return [self retain];
}

- (NSString *)path {
    return _path;
}

@end
