/* For systems that let a condition variable choose its clock. */
#include "condition.h"
#include <time.h>

enum { NANOSECONDS = 1000000000 };

uint64_t fm_monotonic_nanoseconds(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * NANOSECONDS + (uint64_t)now.tv_nsec;
}

int fm_condition_init(pthread_cond_t *condition) {
    pthread_condattr_t attributes;
    int failed = pthread_condattr_init(&attributes);
    if (failed) return failed;
    failed = pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC);
    if (!failed) failed = pthread_cond_init(condition, &attributes);
    pthread_condattr_destroy(&attributes);
    return failed;
}

void fm_condition_wait(pthread_cond_t *condition, pthread_mutex_t *mutex, uint64_t nanoseconds) {
    uint64_t deadline = fm_monotonic_nanoseconds() + nanoseconds;
    struct timespec until = {(time_t)(deadline / NANOSECONDS), (long)(deadline % NANOSECONDS)};
    pthread_cond_timedwait(condition, mutex, &until);
}
