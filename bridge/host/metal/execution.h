#ifndef HM_EXECUTION_H
#define HM_EXECUTION_H

#include "HMCommandBuffer.h"

/* Runs a committed command buffer to its end; on the queue's thread. */
void HMExecute(HMCommandBuffer *commandBuffer);

/* Whether that takes less than waking the queue's thread would. */
BOOL HMIsBrief(HMCommandBuffer *commandBuffer);

#endif
