/* The record of how a command buffer ended, without Metal. */
#include "completion.h"
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define CHECK(condition) check(condition, #condition, __LINE__)

static int failures;

static void check(bool holds, const char *text, int line) {
    if (holds) return;
    failures++;
    fprintf(stderr, "%s:%d: not so: %s\n", __FILE__, line, text);
}

static fm_completion *new_completion(void) {
    fm_error error = {0};
    fm_completion *completion = fm_completion_create(&error);
    CHECK(completion && !error.message);
    return completion;
}

static void nothing_is_known_before_the_end(void) {
    fm_completion *completion = new_completion();
    fm_error error = {0};
    double start = 1, end = 1;
    CHECK(fm_completion_wait(completion, 0, &error) == FM_TIMED_OUT);
    CHECK(fm_completion_wait(completion, 2000000, NULL) == FM_TIMED_OUT);
    CHECK(fm_completion_get_state(completion) == FM_ENCODER_COMMITTED);
    fm_completion_get_gpu_time(completion, &start, &end);
    CHECK(start == 0 && end == 0);
    fm_error_clear(&error);
    fm_completion_release(completion);
}

static void an_outcome_without_a_text_is_an_error_still(void) {
    fm_completion *completion = new_completion();
    fm_error error = {0};
    fm_completion_finish(completion, &(fm_error){.status = FM_COMMAND_FAILED, .code = 5}, 1, 2);
    CHECK(fm_completion_wait(completion, -1, &error) == FM_COMMAND_FAILED);
    CHECK(error.code == 5 && error.message);
    CHECK(fm_completion_get_state(completion) == FM_ENCODER_FAILED);
    fm_error_clear(&error);
    fm_completion_release(completion);
}

static void every_waiter_gets_a_copy(void) {
    fm_completion *completion = new_completion();
    fm_error outcome = {.status = FM_COMMAND_FAILED, .code = 2, .domain = "somewhere"};
    fm_error first = {0}, second = {0};
    outcome.message = strdup("text");
    fm_completion_finish(completion, &outcome, 1, 2);
    CHECK(fm_completion_wait(completion, -1, &first) == FM_COMMAND_FAILED);
    CHECK(fm_completion_wait(completion, 0, &second) == FM_COMMAND_FAILED);
    fm_completion_release(completion);
    CHECK(first.message != second.message && strcmp(second.message, "text") == 0);
    CHECK(strcmp(first.domain, "somewhere") == 0 && first.code == 2);
    fm_error_clear(&first);
    fm_error_clear(&second);
}

static void uses_end_with_the_work_or_without_it(void) {
    for (int committed = 0; committed < 2; committed++) {
        fm_use_count *counts[9];
        fm_completion *first = new_completion(), *second = new_completion();
        for (size_t i = 0; i < sizeof counts / sizeof counts[0]; i++) {
            counts[i] = fm_use_count_create(NULL);
            CHECK(fm_use_count_is_zero(counts[i]));
            for (int again = 0; again < 3; again++)
                CHECK(fm_completion_add_use(first, counts[i], NULL) == FM_OK);
        }
        CHECK(fm_completion_add_use(second, counts[8], NULL) == FM_OK);
        CHECK(!fm_use_count_is_zero(counts[0]) && !fm_use_count_is_zero(counts[8]));
        if (committed) fm_completion_finish(first, &(fm_error){0}, 1, 2);
        fm_completion_release(first);
        CHECK(fm_use_count_is_zero(counts[0]) && !fm_use_count_is_zero(counts[8]));
        for (size_t i = 0; i < sizeof counts / sizeof counts[0]; i++)
            fm_use_count_release(counts[i]);
        fm_completion_release(second); /* it uses a count that nobody else knows any more */
    }
    fm_use_count_release(NULL);
}

static void *finish_and_release(void *completion) {
    fm_completion_finish(completion, &(fm_error){0}, 3, 4);
    fm_completion_release(completion);
    return NULL;
}

static void a_waiter_is_woken_and_the_last_one_frees(void) {
    for (int i = 0; i < 200; i++) {
        fm_completion *completion = new_completion();
        pthread_t thread;
        CHECK(pthread_create(&thread, NULL, finish_and_release, fm_completion_retain(completion)) ==
              0);
        CHECK(fm_completion_wait(completion, i % 2 ? -1 : INT64_MAX, NULL) == FM_OK);
        CHECK(fm_completion_get_state(completion) == FM_ENCODER_COMPLETED);
        fm_completion_release(completion);
        CHECK(pthread_join(thread, NULL) == 0);
    }
}

static void *wait_for_ever(void *completion) {
    CHECK(fm_completion_wait(completion, -1, NULL) == FM_OK);
    return NULL;
}

static void every_waiter_is_woken(void) {
    enum { WAITERS = 8 };
    const struct timespec moment = {0, 20000000};
    fm_completion *completion = new_completion();
    pthread_t threads[WAITERS];
    for (int i = 0; i < WAITERS; i++)
        CHECK(pthread_create(&threads[i], NULL, wait_for_ever, completion) == 0);
    nanosleep(&moment, NULL);
    fm_completion_finish(completion, &(fm_error){0}, 1, 2);
    for (int i = 0; i < WAITERS; i++)
        CHECK(pthread_join(threads[i], NULL) == 0);
    fm_completion_release(completion);
}

static void a_waiter_sleeps(void) {
    fm_completion *completion = new_completion();
    clock_t before = clock();
    CHECK(fm_completion_wait(completion, 100000000, NULL) == FM_TIMED_OUT);
    CHECK(clock() - before < CLOCKS_PER_SEC / 20);
    fm_completion_release(completion);
}

int main(void) {
    nothing_is_known_before_the_end();
    an_outcome_without_a_text_is_an_error_still();
    every_waiter_gets_a_copy();
    uses_end_with_the_work_or_without_it();
    a_waiter_is_woken_and_the_last_one_frees();
    every_waiter_is_woken();
    a_waiter_sleeps();
    fm_completion_release(NULL);
    return failures != 0;
}
