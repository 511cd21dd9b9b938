#include "slots.h"
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include "condition.h"
#include "error.h"

struct fm_slots {
    atomic_int references;
    pthread_mutex_t mutex;
    pthread_cond_t given_back;
    /* Guarded by the mutex. */
    int encoding;
    int committed;
};

fm_slots *fm_slots_create(fm_error *error) {
    fm_slots *slots = fm_allocate(sizeof *slots, error);
    if (!slots) return NULL;
    atomic_init(&slots->references, 1);
    int failed = pthread_mutex_init(&slots->mutex, NULL);
    if (!failed && (failed = fm_condition_init(&slots->given_back)))
        pthread_mutex_destroy(&slots->mutex);
    if (failed) {
        fm_fail(error, FM_ALLOCATION_FAILED, "the system has no condition variable left");
        free(slots);
        return NULL;
    }
    return slots;
}

fm_slots *fm_slots_retain(fm_slots *slots) {
    atomic_fetch_add(&slots->references, 1);
    return slots;
}

void fm_slots_release(fm_slots *slots) {
    if (!slots || atomic_fetch_sub(&slots->references, 1) > 1) return;
    pthread_cond_destroy(&slots->given_back);
    pthread_mutex_destroy(&slots->mutex);
    free(slots);
}

/* The mutex is held. */
static bool is_full(const fm_slots *slots) {
    return slots->encoding + slots->committed == FM_MAX_COMMAND_BUFFERS;
}

/* The mutex is held. None is given back while all are of encoders: nobody would end the wait. */
static void wait_for_room(fm_slots *slots, int64_t timeout_ns) {
    uint64_t start = fm_monotonic_nanoseconds(), passed = 0;
    uint64_t duration = timeout_ns < 0 ? UINT64_MAX : (uint64_t)timeout_ns;
    while (is_full(slots) && slots->committed > 0 && passed < duration) {
        if (timeout_ns < 0)
            pthread_cond_wait(&slots->given_back, &slots->mutex);
        else
            fm_condition_wait(&slots->given_back, &slots->mutex, duration - passed);
        passed = fm_monotonic_nanoseconds() - start;
    }
}

fm_status fm_slots_take(fm_slots *slots, int64_t timeout_ns, fm_error *error) {
    pthread_mutex_lock(&slots->mutex);
    if (is_full(slots)) wait_for_room(slots, timeout_ns);
    bool took = !is_full(slots);
    bool may_come = slots->committed > 0;
    slots->encoding += took;
    pthread_mutex_unlock(&slots->mutex);
    if (took) return FM_OK;
    if (may_come)
        return fm_fail(error, FM_TIMED_OUT, "all %d command buffers of the device are in use",
                       FM_MAX_COMMAND_BUFFERS);
    return fm_fail(error, FM_INVALID_STATE,
                   "all %d command buffers of the device's queue are in encoders that are not "
                   "committed: commit or release one first",
                   FM_MAX_COMMAND_BUFFERS);
}

void fm_slots_commit(fm_slots *slots) {
    pthread_mutex_lock(&slots->mutex);
    slots->encoding--;
    slots->committed++;
    pthread_mutex_unlock(&slots->mutex);
}

static void give_back(fm_slots *slots, int *count) {
    pthread_mutex_lock(&slots->mutex);
    --*count;
    /* All of them: who finds no room may have to give up. */
    pthread_cond_broadcast(&slots->given_back);
    pthread_mutex_unlock(&slots->mutex);
}

void fm_slots_end(fm_slots *slots) {
    give_back(slots, &slots->committed);
}

void fm_slots_discard(fm_slots *slots) {
    give_back(slots, &slots->encoding);
}
