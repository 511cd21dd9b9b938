/* Waiting: asleep, looking, or told by a descriptor; in any order, and never past its timeout. */
#include "bridge_test.h"
#include <poll.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <time.h>

typedef fm_status (*wait_function)(fm_encoder *encoder, int64_t timeout_ns, fm_error *error);

static const wait_function WAITS[] = {fm_encoder_wait, fm_encoder_spin};

static double now(clockid_t clock) {
    struct timespec time;
    clock_gettime(clock, &time);
    return (double)time.tv_sec + (double)time.tv_nsec * 1e-9;
}

/* `faults` replace those of the command buffer before, which may not have met them yet; NULL: they
 * stay. */
static fm_encoder *committed(const char *faults) {
    fm_encoder *encoder = new_encoder();
    CHECK(!faults || host->faults(faults) > 0);
    CHECK(fm_encoder_commit(encoder, &error) == FM_OK);
    return encoder;
}

static void every_wait_is_refused_before_the_commit(void) {
    fm_wakeup *wakeup = NULL;
    fm_encoder *encoder = new_encoder();
    CHECK(fm_wakeup_create(&wakeup, &error) == FM_OK);
    for (size_t i = 0; i < LENGTH(WAITS); i++)
        CHECK(fails(WAITS[i](encoder, -1, &error), FM_INVALID_STATE, "not committed"));
    CHECK(fails(fm_encoder_notify(encoder, wakeup, &error), FM_INVALID_STATE, "not committed"));
    fm_encoder_release(encoder);
    fm_wakeup_release(wakeup);
}

static void every_wait_says_how_the_work_ended(void) {
    for (size_t i = 0; i < LENGTH(WAITS); i++) {
        fm_encoder *good = committed("hang:ms=5;exec:after=1:code=3:ms=5");
        fm_encoder *bad = committed(NULL);
        CHECK(WAITS[i](bad, -1, &error) == FM_COMMAND_FAILED && error.code == 3);
        CHECK(WAITS[i](good, -1, &error) == FM_OK);
        CHECK(WAITS[i](bad, 0, &error) == FM_COMMAND_FAILED && error.code == 3);
        fm_encoder_release(good);
        fm_encoder_release(bad);
    }
}

static void timeouts_are_kept(void) {
    for (size_t i = 0; i < LENGTH(WAITS); i++) {
        fm_encoder *encoder = committed("hang:ms=150");
        double start = now(CLOCK_MONOTONIC);
        CHECK(fails(WAITS[i](encoder, 20000000, &error), FM_TIMED_OUT, "not completed"));
        double taken = now(CLOCK_MONOTONIC) - start;
        CHECK(taken >= 0.02 && taken < 0.1);
        CHECK(WAITS[i](encoder, 0, NULL) == FM_TIMED_OUT);
        CHECK(WAITS[i](encoder, INT64_MAX, &error) == FM_OK);
        fm_encoder_release(encoder);
    }
}

/* The clock of the thread: other threads of the process are at work, too. */
static void one_sleeps_and_one_does_not(void) {
    double used[LENGTH(WAITS)];
    for (size_t i = 0; i < LENGTH(WAITS); i++) {
        fm_encoder *encoder = committed("hang:ms=100");
        double start = now(CLOCK_THREAD_CPUTIME_ID);
        CHECK(WAITS[i](encoder, -1, &error) == FM_OK);
        used[i] = now(CLOCK_THREAD_CPUTIME_ID) - start;
        fm_encoder_release(encoder);
    }
    CHECK(used[0] < 0.01 && used[1] > used[0]);
}

static void work_is_waited_for_in_any_order(void) {
    static const int ORDER[] = {5, 0, 7, 2, 6, 1, 4, 3};
    fm_encoder *encoders[LENGTH(ORDER)];
    fm_buffer *a = new_buffer(4), *out = new_buffer(4);
    for (size_t i = 0; i < LENGTH(ORDER); i++) {
        encoders[i] = new_encoder();
        CHECK(dispatch_scale_add(encoders[i], a, out, (scale_add_parameters){1, (float)i}) ==
              FM_OK);
        CHECK(fm_encoder_commit(encoders[i], &error) == FM_OK);
    }
    for (size_t i = 0; i < LENGTH(ORDER); i++)
        CHECK(WAITS[i % 2](encoders[ORDER[i]], -1, &error) == FM_OK);
    CHECK(*(const float *)fm_buffer_contents(out) == LENGTH(ORDER) - 1);
    for (size_t i = 0; i < LENGTH(ORDER); i++)
        fm_encoder_release(encoders[i]);
    fm_buffer_release(out);
    fm_buffer_release(a);
}

static void *commit_and_spin(void *unused) {
    (void)unused;
    for (int i = 0; i < 100; i++) {
        fm_encoder *encoder = NULL;
        if (fm_encoder_create(device, &encoder, NULL) != FM_OK ||
            fm_encoder_commit(encoder, NULL) != FM_OK ||
            fm_encoder_spin(encoder, -1, NULL) != FM_OK ||
            fm_encoder_get_state(encoder) != FM_ENCODER_COMPLETED)
            return "wrong";
        fm_encoder_release(encoder);
    }
    return NULL;
}

static void threads_commit_and_look(void) {
    pthread_t threads[4];
    for (size_t i = 0; i < LENGTH(threads); i++)
        CHECK(pthread_create(&threads[i], NULL, commit_and_spin, NULL) == 0);
    for (size_t i = 0; i < LENGTH(threads); i++) {
        void *result;
        CHECK(pthread_join(threads[i], &result) == 0 && !result);
    }
}

static bool is_readable(const fm_wakeup *wakeup, int milliseconds) {
    struct pollfd one = {.fd = fm_wakeup_descriptor(wakeup), .events = POLLIN};
    return poll(&one, 1, milliseconds) == 1 && one.revents & POLLIN;
}

static void a_wakeup_is_readable_after_the_work(void) {
    fm_wakeup *wakeup = NULL;
    CHECK(fm_wakeup_create(&wakeup, &error) == FM_OK);
    for (int i = 0; i < 3; i++) {
        fm_encoder *encoder = committed("hang:ms=60");
        CHECK(fm_encoder_notify(encoder, wakeup, &error) == FM_OK);
        CHECK(!is_readable(wakeup, 0));
        CHECK(is_readable(wakeup, 5000));
        CHECK(fm_encoder_get_state(encoder) == FM_ENCODER_COMPLETED);
        fm_wakeup_clear(wakeup);
        CHECK(!is_readable(wakeup, 0));
        CHECK(fm_encoder_notify(encoder, wakeup, &error) == FM_OK); /* it has ended */
        CHECK(is_readable(wakeup, 0));
        fm_wakeup_clear(wakeup);
        fm_encoder_release(encoder);
    }
    fm_wakeup_release(wakeup);
}

static void one_wakeup_serves_many_and_many_serve_one(void) {
    enum { COUNT = 200 }; /* more than fm_wakeup_clear reads at once */
    fm_wakeup *wakeups[2] = {NULL, NULL};
    for (size_t i = 0; i < LENGTH(wakeups); i++)
        CHECK(fm_wakeup_create(&wakeups[i], &error) == FM_OK);
    fm_encoder *encoder = committed("exec:ms=40");
    for (int i = 0; i < COUNT; i++)
        CHECK(fm_encoder_notify(encoder, wakeups[i % 2], &error) == FM_OK);
    CHECK(fm_encoder_wait(encoder, -1, &error) == FM_COMMAND_FAILED);
    for (size_t i = 0; i < LENGTH(wakeups); i++) {
        CHECK(is_readable(wakeups[i], 5000));
        CHECK(host->quiesce(5000));
        fm_wakeup_clear(wakeups[i]);
        CHECK(!is_readable(wakeups[i], 0));
        fm_wakeup_release(wakeups[i]);
    }
    fm_encoder_release(encoder);
}

static void a_wakeup_may_be_released_before_the_work_is_done(void) {
    fm_wakeup *wakeup = NULL;
    fm_encoder *encoder = committed("hang:ms=30");
    CHECK(fm_wakeup_create(&wakeup, &error) == FM_OK);
    CHECK(fm_encoder_notify(encoder, wakeup, &error) == FM_OK);
    fm_wakeup_release(wakeup);
    fm_encoder_release(encoder);
    CHECK(host->quiesce(5000));
    fm_wakeup_release(NULL);
}

int main(void) {
    static const bridge_case CASES[] = {
        {"every wait is refused before the commit", every_wait_is_refused_before_the_commit},
        {"every wait says how the work ended", every_wait_says_how_the_work_ended},
        {"timeouts are kept", timeouts_are_kept},
        {"one sleeps and one does not", one_sleeps_and_one_does_not},
        {"work is waited for in any order", work_is_waited_for_in_any_order},
        {"threads commit and look", threads_commit_and_look},
        {"a wake-up is readable after the work", a_wakeup_is_readable_after_the_work},
        {"one wake-up serves many and many serve one", one_wakeup_serves_many_and_many_serve_one},
        {"a wake-up may be released before the work is done",
         a_wakeup_may_be_released_before_the_work_is_done},
    };
    return run_cases(CASES, LENGTH(CASES));
}
