#include "completion.h"
#include "condition.h"
#include "error.h"
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>

struct fm_completion {
    atomic_int references;
    pthread_mutex_t mutex; /* guards what follows */
    pthread_cond_t finished;
    bool done;
    fm_error outcome; /* owned message */
    double start;
    double end;
};

fm_completion *fm_completion_create(fm_error *error) {
    fm_completion *completion = fm_allocate(sizeof *completion, error);
    if (!completion) return NULL;
    atomic_init(&completion->references, 1);
    int failed = pthread_mutex_init(&completion->mutex, NULL);
    if (!failed && (failed = fm_condition_init(&completion->finished)))
        pthread_mutex_destroy(&completion->mutex);
    if (failed) {
        fm_fail(error, FM_ALLOCATION_FAILED, "the system has no condition variable left");
        free(completion);
        return NULL;
    }
    return completion;
}

fm_completion *fm_completion_retain(fm_completion *completion) {
    atomic_fetch_add(&completion->references, 1);
    return completion;
}

void fm_completion_release(fm_completion *completion) {
    if (!completion || atomic_fetch_sub(&completion->references, 1) > 1) return;
    pthread_cond_destroy(&completion->finished);
    pthread_mutex_destroy(&completion->mutex);
    fm_error_clear(&completion->outcome);
    free(completion);
}

void fm_completion_finish(fm_completion *completion, const fm_error *outcome, double start,
                          double end) {
    pthread_mutex_lock(&completion->mutex);
    completion->outcome = *outcome;
    completion->start = start;
    completion->end = end;
    completion->done = true;
    pthread_cond_broadcast(&completion->finished);
    pthread_mutex_unlock(&completion->mutex);
}

/* The mutex is held. */
static void wait_for_ever(fm_completion *completion) {
    while (!completion->done)
        pthread_cond_wait(&completion->finished, &completion->mutex);
}

/* The mutex is held. */
static void wait_until(fm_completion *completion, uint64_t deadline) {
    for (uint64_t now; !completion->done && (now = fm_monotonic_nanoseconds()) < deadline;)
        fm_condition_wait(&completion->finished, &completion->mutex, deadline - now);
}

fm_status fm_completion_wait(fm_completion *completion, int64_t timeout_ns, fm_error *error) {
    fm_status status = FM_OK;
    pthread_mutex_lock(&completion->mutex);
    if (timeout_ns < 0)
        wait_for_ever(completion);
    else
        wait_until(completion, fm_monotonic_nanoseconds() + (uint64_t)timeout_ns);
    if (!completion->done)
        status = fm_fail(error, FM_TIMED_OUT, "the command buffer has not completed yet");
    else if (completion->outcome.status != FM_OK)
        status = fm_error_copy(error, &completion->outcome);
    pthread_mutex_unlock(&completion->mutex);
    return status;
}

fm_encoder_state fm_completion_get_state(fm_completion *completion) {
    fm_encoder_state state = FM_ENCODER_COMMITTED;
    pthread_mutex_lock(&completion->mutex);
    if (completion->done)
        state = completion->outcome.status == FM_OK ? FM_ENCODER_COMPLETED : FM_ENCODER_FAILED;
    pthread_mutex_unlock(&completion->mutex);
    return state;
}

void fm_completion_get_gpu_time(fm_completion *completion, double *start, double *end) {
    pthread_mutex_lock(&completion->mutex);
    *start = completion->start;
    *end = completion->end;
    pthread_mutex_unlock(&completion->mutex);
}
