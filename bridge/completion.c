#include "completion.h"
#include "condition.h"
#include "error.h"
#include "wakeup.h"
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>

typedef struct notice {
    fm_wakeup *wakeup; /* owned reference */
    struct notice *next;
} notice;

struct fm_completion {
    atomic_int references;
    fm_use_list uses; /* of the encoding thread until the commit, then of Metal's handler */
    pthread_mutex_t mutex;
    pthread_cond_t finished;
    notice *notices;  /* owned; guarded by the mutex */
    atomic_bool done; /* set with the mutex; what follows does not change any more then */
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
    fm_use_list_end(&completion->uses); /* of a command buffer that was never committed */
    pthread_cond_destroy(&completion->finished);
    pthread_mutex_destroy(&completion->mutex);
    fm_error_clear(&completion->outcome);
    free(completion);
}

fm_status fm_completion_add_use(fm_completion *completion, fm_use_count *count, fm_error *error) {
    return fm_use_list_add(&completion->uses, count, error);
}

static void send(notice *first) {
    for (notice *next; first; first = next) {
        next = first->next;
        fm_wakeup_signal(first->wakeup);
        fm_wakeup_release(first->wakeup);
        free(first);
    }
}

void fm_completion_finish(fm_completion *completion, const fm_error *outcome, double start,
                          double end) {
    fm_use_list_end(&completion->uses);
    pthread_mutex_lock(&completion->mutex);
    completion->outcome = *outcome;
    completion->start = start;
    completion->end = end;
    notice *notices = completion->notices;
    completion->notices = NULL;
    atomic_store_explicit(&completion->done, true, memory_order_release);
    pthread_cond_broadcast(&completion->finished);
    pthread_mutex_unlock(&completion->mutex);
    send(notices);
}

bool fm_completion_is_done(const fm_completion *completion) {
    return atomic_load_explicit(&completion->done, memory_order_acquire);
}

/* The mutex is held. */
static void wait_for_ever(fm_completion *completion) {
    while (!fm_completion_is_done(completion))
        pthread_cond_wait(&completion->finished, &completion->mutex);
}

/* The mutex is held. */
static void wait_until(fm_completion *completion, uint64_t deadline) {
    for (uint64_t now;
         !fm_completion_is_done(completion) && (now = fm_monotonic_nanoseconds()) < deadline;)
        fm_condition_wait(&completion->finished, &completion->mutex, deadline - now);
}

static void sleep_until_done(fm_completion *completion, int64_t timeout_ns) {
    pthread_mutex_lock(&completion->mutex);
    if (timeout_ns < 0)
        wait_for_ever(completion);
    else
        wait_until(completion, fm_monotonic_nanoseconds() + (uint64_t)timeout_ns);
    pthread_mutex_unlock(&completion->mutex);
}

fm_status fm_completion_wait(fm_completion *completion, int64_t timeout_ns, fm_error *error) {
    if (timeout_ns != 0 && !fm_completion_is_done(completion))
        sleep_until_done(completion, timeout_ns);
    if (!fm_completion_is_done(completion))
        return fm_fail(error, FM_TIMED_OUT, "the command buffer has not completed yet");
    if (completion->outcome.status != FM_OK) return fm_error_copy(error, &completion->outcome);
    return FM_OK;
}

fm_status fm_completion_notify(fm_completion *completion, fm_wakeup *wakeup, fm_error *error) {
    notice *added = fm_allocate(sizeof *added, error);
    if (!added) return FM_ALLOCATION_FAILED;
    added->wakeup = fm_wakeup_retain(wakeup);
    pthread_mutex_lock(&completion->mutex);
    bool done = fm_completion_is_done(completion);
    if (!done) {
        added->next = completion->notices;
        completion->notices = added;
    }
    pthread_mutex_unlock(&completion->mutex);
    if (done) send(added);
    return FM_OK;
}

fm_encoder_state fm_completion_get_state(const fm_completion *completion) {
    if (!fm_completion_is_done(completion)) return FM_ENCODER_COMMITTED;
    return completion->outcome.status == FM_OK ? FM_ENCODER_COMPLETED : FM_ENCODER_FAILED;
}

void fm_completion_get_gpu_time(const fm_completion *completion, double *start, double *end) {
    bool done = fm_completion_is_done(completion);
    *start = done ? completion->start : 0;
    *end = done ? completion->end : 0;
}
