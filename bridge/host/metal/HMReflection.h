/* Makes reflection objects: Apple's headers give them no initialisers. */
#ifndef HM_REFLECTION_H
#define HM_REFLECTION_H

#import <Metal/Metal.h>
#include "msl.h"

/* Both autoreleased. */
MTLComputePipelineReflection *HMReflect(const msl_kernel *kernel);

MTLArgument *HMArgumentOf(id<MTLBinding> binding);

#endif
