/* What MTLFunctionConstantValues holds, for the compiler. */
#ifndef HM_CONSTANTS_H
#define HM_CONSTANTS_H

#import <Metal/MTLFunctionConstantValues.h>
#include "msl.h"

enum { HM_CONSTANT_TEXT = 128 }; /* four of the longest numbers */

typedef struct HMConstant {
    uint32_t index;
    char text[HM_CONSTANT_TEXT]; /* the value as MSL source, a vector's as its components */
} HMConstant;

/* In order of index, whatever the order in which they were set. */
const HMConstant *HMConstantsOf(MTLFunctionConstantValues *values, NSUInteger *count);
/* Whether they are those of a library, as msl_library_constants tells them. */
BOOL HMConstantsAre(MTLFunctionConstantValues *values, const char *described);

#endif
