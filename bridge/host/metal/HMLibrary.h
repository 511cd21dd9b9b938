#ifndef HM_LIBRARY_H
#define HM_LIBRARY_H

#include "HMDevice.h"
#include "msl.h"

@interface HMLibrary : NSObject <MTLLibrary> {
  @public
    HMDevice *_device;           /* owned */
    msl_library *_library;       /* owned; of no function constants, unless opened from a file */
    NSString *_source;           /* owned; nil: opened from a file */
    MTLCompileOptions *_options; /* owned */
    NSString *_label;            /* owned */
}
/* Both: nil with `error` filled. */
- (instancetype)initWithDevice:(HMDevice *)device
                        source:(NSString *)source
                       options:(MTLCompileOptions *)options
                         error:(NSError **)error;
- (instancetype)initWithDevice:(HMDevice *)device path:(NSString *)path error:(NSError **)error;
@end

#endif
