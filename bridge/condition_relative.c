/* For Apple's systems, where a wait takes a duration in place of a clock. */
#include "condition.h"
#include <time.h>

enum { NANOSECONDS = 1000000000 };

uint64_t fm_monotonic_nanoseconds(void) {
    return clock_gettime_nsec_np(CLOCK_MONOTONIC);
}

int fm_condition_init(pthread_cond_t *condition) {
    return pthread_cond_init(condition, NULL);
}

void fm_condition_wait(pthread_cond_t *condition, pthread_mutex_t *mutex, uint64_t nanoseconds) {
    struct timespec duration = {(time_t)(nanoseconds / NANOSECONDS),
                                (long)(nanoseconds % NANOSECONDS)};
    pthread_cond_timedwait_relative_np(condition, mutex, &duration);
}
