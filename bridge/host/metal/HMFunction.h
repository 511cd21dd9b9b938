#ifndef HM_FUNCTION_H
#define HM_FUNCTION_H

#include "HMDevice.h"
#include "msl.h"

@class HMLibrary;

@interface HMFunction : NSObject <MTLFunction> {
  @public
    HMDevice *_device;         /* owned */
    msl_library *_library;     /* owned */
    const msl_kernel *_kernel; /* of the library */
    BOOL _hasMacros;           /* compiled with them: they make another text */
    HMLibrary *_origin;        /* owned; of one that is not compiled yet; else nil */
    NSString *_name;           /* owned */
    NSString *_label;          /* owned */
}
- (instancetype)initWithDevice:(HMDevice *)device
                       library:(msl_library *)library
                        kernel:(const msl_kernel *)kernel;
/* Autoreleased: itself, or what it compiles to without function constants. nil with `error` filled.
 */
- (HMFunction *)compiled:(NSError **)error;
@end

#endif
