/* How long a command buffer may run, as a GPU's watchdog has it. */
#ifndef HM_TIME_LIMIT_H
#define HM_TIME_LIMIT_H

#include <stdint.h>

/* Nanoseconds; 0: for ever. `seconds`: of a device's options, 0 where they do not say. */
uint64_t hm_time_limit(double seconds);
/* What is wrong with FLASHMETAL_TIMEOUT, which then says nothing; malloc'ed, the caller frees it;
 * NULL: nothing. */
char *hm_time_limit_environment_fault(void);

/* By CLOCK_MONOTONIC. */
uint64_t hm_now(void);

#endif
