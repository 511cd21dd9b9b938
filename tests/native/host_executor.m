/* The thread of a command queue, and those that do its work in its place. */
#include "executor.h"
#include <pthread.h>
#include <semaphore.h>
#include "host_test.h"

enum { CAPACITY = 4, ROUNDS = 1000 };

static hm_executor *executor;
static sem_t begun, may_end, ended;
static pthread_t runner; /* of the last job */
static int runs;

static bool always(void *work) {
    (void)work;
    return true;
}

static bool never(void *work) {
    (void)work;
    return false;
}

static void job(void *work) {
    (void)work;
    runner = pthread_self();
    runs++;
    sem_post(&ended);
}

static void patient_job(void *work) {
    sem_post(&begun);
    sem_wait(&may_end);
    job(work);
}

typedef void (*body)(void *work);

static void run(void *work) {
    (*(body *)work)(work);
}

static body quick = job, patient = patient_job;

static void start(void) {
    executor = hm_executor_create(CAPACITY, run);
    runs = 0;
    sem_init(&begun, 0, 0);
    sem_init(&may_end, 0, 0);
    sem_init(&ended, 0, 0);
}

static void nobody_helps_past_work_that_is_under_way(void) {
    start();
    CHECK(hm_executor_submit(executor, &patient));
    sem_wait(&begun);
    CHECK(hm_executor_submit(executor, &quick));
    hm_executor_help(executor, always);
    CHECK(runs == 0 && !hm_executor_run(executor, &quick));
    sem_post(&may_end);
    sem_wait(&ended);
    sem_wait(&ended);
    CHECK(runs == 2);
    hm_executor_destroy(executor);
}

static void work_that_is_not_wanted_is_left_to_the_thread(void) {
    start();
    for (int i = 0; i < ROUNDS; i++) {
        CHECK(hm_executor_submit(executor, &quick));
        hm_executor_help(executor, never);
        sem_wait(&ended);
        CHECK(!pthread_equal(runner, pthread_self()));
    }
    hm_executor_destroy(executor);
}

static void all_work_is_done_once_whoever_does_it(void) {
    int helped = 0;
    start();
    for (int i = 0; i < ROUNDS; i++) {
        CHECK(hm_executor_submit(executor, &quick));
        hm_executor_help(executor, always);
        sem_wait(&ended);
        helped += pthread_equal(runner, pthread_self()) != 0;
        CHECK(runs == i + 1);
    }
    /* The thread takes far longer to wake. */
    CHECK(helped > 0);
    hm_executor_destroy(executor);
}

int main(void) {
    const host_case cases[] = {
        {"nobody helps past work that is under way", nobody_helps_past_work_that_is_under_way},
        {"work that is not wanted is left to the thread",
         work_that_is_not_wanted_is_left_to_the_thread},
        {"all work is done once, whoever does it", all_work_is_done_once_whoever_does_it},
    };
    return host_run(cases, LENGTH(cases));
}
