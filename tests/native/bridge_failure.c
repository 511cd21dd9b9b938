/* Command buffers that end with an error, late, or never. */
#include "bridge_test.h"
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

static double now(void) {
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (double)time.tv_sec + (double)time.tv_nsec * 1e-9;
}

static fm_encoder *committed(const char *fault) {
    fm_encoder *encoder = new_encoder();
    CHECK(host->faults(fault) == 1);
    CHECK(fm_encoder_commit(encoder, &error) == FM_OK);
    return encoder;
}

static void check_that_work_goes_on(void) {
    fm_buffer *a = new_buffer(4), *out = new_buffer(4);
    fm_encoder *encoder = new_encoder();
    *(float *)fm_buffer_contents(a) = 2;
    CHECK(dispatch_scale_add(encoder, a, out, (scale_add_parameters){1, 1}) == FM_OK);
    CHECK(fm_encoder_commit(encoder, &error) == FM_OK);
    CHECK(fm_encoder_wait(encoder, -1, &error) == FM_OK);
    CHECK(*(const float *)fm_buffer_contents(out) == 7);
    fm_encoder_release(encoder);
    fm_buffer_release(out);
    fm_buffer_release(a);
}

static void every_error_code_is_reported_and_poisons_nothing(void) {
    static const int CODES[] = {1, 2, 3, 4, 7, 8, 9, 10, 11, 12};
    for (size_t i = 0; i < LENGTH(CODES); i++) {
        char fault[32];
        snprintf(fault, sizeof fault, "exec:code=%d", CODES[i]);
        fm_encoder *encoder = committed(fault);
        CHECK(fails(fm_encoder_wait(encoder, -1, &error), FM_COMMAND_FAILED, ""));
        CHECK(error.code == CODES[i] && error.message[0]);
        CHECK(strcmp(error.domain, "MTLCommandBufferErrorDomain") == 0);
        CHECK(fm_encoder_get_state(encoder) == FM_ENCODER_FAILED);
        CHECK(fm_encoder_wait(encoder, 0, &error) == FM_COMMAND_FAILED && error.code == CODES[i]);
        fm_encoder_release(encoder);
        check_that_work_goes_on();
    }
}

static void a_late_error_is_reported_by_the_wait(void) {
    fm_encoder *encoder = committed("exec:code=2:ms=60");
    CHECK(fails(fm_encoder_wait(encoder, 5000000, &error), FM_TIMED_OUT, "not completed"));
    CHECK(fm_encoder_get_state(encoder) == FM_ENCODER_COMMITTED);
    CHECK(fm_encoder_wait(encoder, -1, &error) == FM_COMMAND_FAILED && error.code == 2);
    fm_encoder_release(encoder);
}

static void a_wait_times_out_and_can_be_repeated(void) {
    fm_encoder *encoder = committed("hang:ms=120");
    double start = now();
    CHECK(fm_encoder_wait(encoder, 0, &error) == FM_TIMED_OUT);
    CHECK(now() - start < 0.03);
    CHECK(fm_encoder_wait(encoder, 30000000, &error) == FM_TIMED_OUT);
    CHECK(now() - start >= 0.03 && now() - start < 0.12);
    CHECK(fm_encoder_wait(encoder, INT64_MAX, &error) == FM_OK);
    CHECK(fm_encoder_wait(encoder, 0, &error) == FM_OK);
    fm_encoder_release(encoder);
}

static void the_error_may_be_left_out(void) {
    fm_encoder *encoder = committed("exec:code=8:ms=40");
    CHECK(fm_encoder_wait(encoder, 0, NULL) == FM_TIMED_OUT);
    CHECK(fm_encoder_wait(encoder, -1, NULL) == FM_COMMAND_FAILED);
    fm_encoder_release(encoder);
}

static void an_error_struct_can_be_used_again(void) {
    fm_encoder *bad = committed("exec:code=9"), *good = new_encoder();
    for (int i = 0; i < 3; i++) {
        CHECK(fm_encoder_wait(bad, -1, &error) == FM_COMMAND_FAILED && error.code == 9);
        CHECK(fm_encoder_wait(good, 0, &error) == FM_INVALID_STATE && error.code == 0);
        CHECK(strcmp(error.domain, "flashmetal") == 0);
    }
    fm_encoder_release(good);
    fm_encoder_release(bad);
}

static void a_failed_one_that_nobody_waits_for_is_forgotten(void) {
    fm_encoder_release(committed("exec:code=1"));
    CHECK(host->quiesce(5000));
    check_that_work_goes_on();
}

int main(void) {
    static const bridge_case CASES[] = {
        {"every error code is reported and poisons nothing",
         every_error_code_is_reported_and_poisons_nothing},
        {"a late error is reported by the wait", a_late_error_is_reported_by_the_wait},
        {"a wait times out and can be repeated", a_wait_times_out_and_can_be_repeated},
        {"the error may be left out", the_error_may_be_left_out},
        {"an error struct can be used again", an_error_struct_can_be_used_again},
        {"a failed one that nobody waits for is forgotten",
         a_failed_one_that_nobody_waits_for_is_forgotten},
    };
    return run_cases(CASES, LENGTH(CASES));
}
