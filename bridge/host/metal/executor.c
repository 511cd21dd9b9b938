#include "executor.h"
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <time.h>
#include "simt.h"

struct hm_executor {
    pthread_mutex_t lock;
    pthread_cond_t changed;
    pthread_t thread;
    bool started, stopping;
    bool running; /* work is under way, on whatever thread */
    void (*run)(void *work);
    size_t first, count, capacity; /* of the ring of waiting work */
    void *waiting[];
};

static atomic_long unfinished; /* submissions of all executors */

hm_executor *hm_executor_create(size_t capacity, void (*run)(void *work)) {
    hm_executor *executor = calloc(1, sizeof *executor + capacity * sizeof(void *));
    if (!executor) return NULL;
    pthread_mutex_init(&executor->lock, NULL);
    pthread_cond_init(&executor->changed, NULL);
    executor->capacity = capacity;
    executor->run = run;
    return executor;
}

static void discard(hm_executor *executor) {
    pthread_cond_destroy(&executor->changed);
    pthread_mutex_destroy(&executor->lock);
    free(executor);
}

/* The lock is held, and work waits. */
static void *take_first(hm_executor *executor) {
    void *work = executor->waiting[executor->first];
    executor->first = (executor->first + 1) % executor->capacity;
    executor->count--;
    executor->running = true;
    return work;
}

/* NULL once the executor is stopping. */
static void *take(hm_executor *executor) {
    pthread_mutex_lock(&executor->lock);
    while ((executor->count == 0 || executor->running) && !executor->stopping)
        pthread_cond_wait(&executor->changed, &executor->lock);
    void *work = executor->count > 0 ? take_first(executor) : NULL;
    pthread_mutex_unlock(&executor->lock);
    return work;
}

static void *take_wanted(hm_executor *executor, bool (*wanted)(void *work)) {
    pthread_mutex_lock(&executor->lock);
    bool found =
        executor->count > 0 && !executor->running && wanted(executor->waiting[executor->first]);
    void *work = found ? take_first(executor) : NULL;
    pthread_mutex_unlock(&executor->lock);
    return work;
}

static void run(hm_executor *executor, void *work) {
    executor->run(work);
    pthread_mutex_lock(&executor->lock);
    executor->running = false;
    if (executor->count > 0) pthread_cond_signal(&executor->changed);
    pthread_mutex_unlock(&executor->lock);
    unfinished--;
}

static void *run_all(void *argument) {
    hm_executor *executor = argument;
    for (void *work; (work = take(executor));)
        run(executor, work);
    discard(executor);
    return NULL;
}

/* Called with the lock held. Signals stay with the threads of the process that wait for them, but
 * for those that a kernel causes. */
static bool start(hm_executor *executor) {
    if (executor->started) return true;
    sigset_t blocked, before;
    sigfillset(&blocked);
    simt_exempt_signals(&blocked);
    pthread_sigmask(SIG_SETMASK, &blocked, &before);
    executor->started = pthread_create(&executor->thread, NULL, run_all, executor) == 0;
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    return executor->started;
}

bool hm_executor_submit(hm_executor *executor, void *work) {
    pthread_mutex_lock(&executor->lock);
    bool accepted = executor->count < executor->capacity && start(executor);
    if (accepted) {
        unfinished++;
        executor->waiting[(executor->first + executor->count) % executor->capacity] = work;
        executor->count++;
        pthread_cond_signal(&executor->changed);
    }
    pthread_mutex_unlock(&executor->lock);
    return accepted;
}

bool hm_executor_run(hm_executor *executor, void *work) {
    pthread_mutex_lock(&executor->lock);
    bool idle = executor->count == 0 && !executor->running;
    if (idle) {
        unfinished++;
        executor->running = true;
    }
    pthread_mutex_unlock(&executor->lock);
    if (idle) run(executor, work);
    return idle;
}

void hm_executor_help(hm_executor *executor, bool (*wanted)(void *work)) {
    for (void *work; (work = take_wanted(executor, wanted));)
        run(executor, work);
}

void hm_executor_destroy(hm_executor *executor) {
    if (!executor) return;
    if (!executor->started) {
        discard(executor);
        return;
    }
    pthread_t thread = executor->thread;
    pthread_mutex_lock(&executor->lock);
    executor->stopping = true;
    pthread_cond_signal(&executor->changed);
    pthread_mutex_unlock(&executor->lock);
    /* The thread that drops the last reference to a queue is often the queue's own. */
    if (pthread_equal(thread, pthread_self()))
        pthread_detach(thread);
    else
        pthread_join(thread, NULL);
}

bool hm_executors_quiesce(int milliseconds) {
    const struct timespec pause = {.tv_nsec = 200000};
    for (int i = 0; unfinished && i < milliseconds * 5; i++)
        nanosleep(&pause, NULL);
    return unfinished == 0;
}
