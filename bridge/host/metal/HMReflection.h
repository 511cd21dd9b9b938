/* Makes reflection objects: Apple's headers give them no initialisers. */
#ifndef HM_REFLECTION_H
#define HM_REFLECTION_H

#import <Metal/Metal.h>
#include "msl.h"

/* All autoreleased. */
MTLComputePipelineReflection *HMReflect(const msl_kernel *kernel);

MTLArgument *HMArgumentOf(id<MTLBinding> binding);
MTLFunctionConstant *HMConstantOf(const msl_declared_constant *declared);

#endif
