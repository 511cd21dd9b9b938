#ifndef HM_FUNCTION_H
#define HM_FUNCTION_H

#include "HMDevice.h"
#include "msl.h"

@interface HMFunction : NSObject <MTLFunction> {
  @public
    HMDevice *_device;         /* owned */
    msl_library *_library;     /* owned */
    const msl_kernel *_kernel; /* of the library */
    BOOL _hasMacros;           /* compiled with them: they make another text */
    NSString *_name;           /* owned */
    NSString *_label;          /* owned */
}
- (instancetype)initWithDevice:(HMDevice *)device
                       library:(msl_library *)library
                        kernel:(const msl_kernel *)kernel;
@end

#endif
