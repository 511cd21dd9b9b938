#ifndef HM_EXECUTION_H
#define HM_EXECUTION_H

#include "HMCommandBuffer.h"

/* Runs a committed command buffer to its end; on the queue's thread. */
void HMExecute(HMCommandBuffer *commandBuffer);

/* Whether that takes less than waking the queue's thread would. */
BOOL HMIsBrief(HMCommandBuffer *commandBuffer);

/* Whether who waits for it may as well run it: it ends before anybody becomes impatient. */
BOOL HMIsShort(HMCommandBuffer *commandBuffer);

#endif
