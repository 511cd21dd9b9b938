#ifndef HM_BINDING_H
#define HM_BINDING_H

#import <Metal/Metal.h>
#include "msl.h"

/* One argument of a kernel. */
@interface HMBinding : NSObject <MTLBufferBinding, MTLThreadgroupBinding> {
  @private
    NSString *_name; /* owned */
    MTLBindingType _type;
    MTLBindingAccess _access;
    NSUInteger _index, _alignment, _size;
    BOOL _used;
}
- (instancetype)initWithBinding:(const msl_binding *)binding;
@end

#endif
