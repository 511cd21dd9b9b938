#ifndef HM_EXECUTION_H
#define HM_EXECUTION_H

#include "HMCommandBuffer.h"

/* Runs a committed command buffer to its end; on the queue's thread. */
void HMExecute(HMCommandBuffer *commandBuffer);

#endif
