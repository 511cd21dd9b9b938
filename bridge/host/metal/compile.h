/* Metal's compile options as a request to the MSL compiler. */
#ifndef HM_COMPILE_H
#define HM_COMPILE_H

#include "HMDevice.h"
#include "msl.h"

/* NULL with `error` filled. HMCheck may give no more than the names of the kernels; HMCompile one
 * kernel, where `constants` may be nil. */
msl_library *HMCheck(HMDevice *device, NSString *source, MTLCompileOptions *options,
                     NSError **error);
msl_library *HMCompile(HMDevice *device, NSString *source, MTLCompileOptions *options,
                       NSString *function, MTLFunctionConstantValues *constants, NSError **error);
msl_library *HMOpen(NSString *path, NSError **error);

#endif
