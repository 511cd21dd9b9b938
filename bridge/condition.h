/* Condition variables whose timeouts follow a clock that nobody sets. POSIX and Apple spell that
 * differently, hence condition_posix.c and condition_relative.c; the build takes one of them. */
#ifndef FM_BRIDGE_CONDITION_H
#define FM_BRIDGE_CONDITION_H

#include <pthread.h>
#include <stdint.h>

/* 0, or an error number. */
int fm_condition_init(pthread_cond_t *condition);

/* Returns after a signal, after `nanoseconds`, or for no reason; `mutex` is held then. */
void fm_condition_wait(pthread_cond_t *condition, pthread_mutex_t *mutex, uint64_t nanoseconds);

/* On a clock that nobody sets. */
uint64_t fm_monotonic_nanoseconds(void);

#endif
