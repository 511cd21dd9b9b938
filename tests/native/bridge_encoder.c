/* The life of an encoder: states, order of calls, and the queue's limit of command buffers. */
#include "bridge_test.h"
#include <pthread.h>
#include <stdatomic.h>

static fm_status begin(fm_encoder *encoder) {
    return fm_encoder_begin(encoder, NULL, -1, &error);
}

static void states_follow_the_work(void) {
    fm_encoder *encoder = new_encoder();
    CHECK(fm_encoder_get_state(encoder) == FM_ENCODER_OPEN && !fm_encoder_has_begun(encoder));
    CHECK(fm_encoder_begin(encoder, "a label", -1, &error) == FM_OK);
    CHECK(begin(encoder) == FM_OK && fm_encoder_has_begun(encoder));
    CHECK(fm_encoder_get_state(encoder) == FM_ENCODER_OPEN);
    CHECK(host->faults("hang:ms=50") == 1);
    CHECK(fm_encoder_commit(encoder, &error) == FM_OK);
    CHECK(fm_encoder_get_state(encoder) == FM_ENCODER_COMMITTED && fm_encoder_has_begun(encoder));
    CHECK(fm_encoder_wait(encoder, -1, &error) == FM_OK);
    CHECK(fm_encoder_get_state(encoder) == FM_ENCODER_COMPLETED);
    fm_encoder_release(encoder);
}

static void an_encoder_that_never_began_holds_nothing_of_metal(void) {
    long live = host->live_objects(NULL);
    fm_encoder *encoder = new_encoder();
    CHECK(fm_encoder_barrier(encoder, &error) == FM_OK);
    CHECK(host->live_objects(NULL) == live);
    fm_encoder_release(encoder);
}

static void calls_before_begin_are_refused(void) {
    const fm_dispatch dispatch = {.pipeline = scale_add};
    fm_encoder *encoder = new_encoder();
    CHECK(fails(fm_encoder_dispatch(encoder, &dispatch, &error), FM_INVALID_STATE, "not begun"));
    CHECK(fails(fm_encoder_wait(encoder, 0, &error), FM_INVALID_STATE, "not committed"));
    fm_encoder_release(encoder);
}

static void calls_after_commit_are_refused(void) {
    const fm_dispatch dispatch = {.pipeline = scale_add};
    fm_encoder *encoder = new_encoder();
    CHECK(fm_encoder_commit(encoder, &error) == FM_OK);
    CHECK(fails(fm_encoder_commit(encoder, &error), FM_INVALID_STATE, "committed already"));
    CHECK(fails(begin(encoder), FM_INVALID_STATE, "committed already"));
    CHECK(fails(fm_encoder_dispatch(encoder, &dispatch, &error), FM_INVALID_STATE,
                "committed already"));
    CHECK(fails(fm_encoder_barrier(encoder, &error), FM_INVALID_STATE, "committed already"));
    CHECK(fm_encoder_wait(encoder, -1, &error) == FM_OK);
    fm_encoder_release(encoder);
}

static void a_bad_label_leaves_the_encoder_as_it_was(void) {
    fm_encoder *encoder = new_encoder();
    CHECK(fails(fm_encoder_begin(encoder, "\xff", -1, &error), FM_INVALID_ARGUMENT, "label"));
    CHECK(!fm_encoder_has_begun(encoder));
    CHECK(begin(encoder) == FM_OK);
    fm_encoder_release(encoder);
}

static void refusals_of_metal_leave_the_encoder_as_it_was(void) {
    fm_encoder *encoder = new_encoder();
    CHECK(host->faults("cmdbuf") == 1);
    CHECK(fails(begin(encoder), FM_ALLOCATION_FAILED, "command buffer"));
    CHECK(host->faults("encoder") == 1);
    CHECK(fails(begin(encoder), FM_ALLOCATION_FAILED, "compute encoder"));
    CHECK(host->faults("cmdbuf") == 1);
    CHECK(fails(fm_encoder_commit(encoder, &error), FM_ALLOCATION_FAILED, "command buffer"));
    CHECK(fm_encoder_get_state(encoder) == FM_ENCODER_OPEN && !fm_encoder_has_begun(encoder));
    CHECK(fm_encoder_commit(encoder, &error) == FM_OK);
    CHECK(fm_encoder_wait(encoder, -1, &error) == FM_OK);
    fm_encoder_release(encoder);
}

static void refusals_do_not_use_up_the_queue(void) {
    fm_encoder *encoder = new_encoder();
    for (int i = 0; i < 2 * FM_MAX_COMMAND_BUFFERS; i++) {
        host->faults(i % 2 ? "cmdbuf" : "encoder");
        CHECK(begin(encoder) == FM_ALLOCATION_FAILED);
    }
    CHECK(begin(encoder) == FM_OK);
    fm_encoder_release(encoder);
}

static void discarded_encoders_do_not_use_up_the_queue(void) {
    for (int i = 0; i < 2 * FM_MAX_COMMAND_BUFFERS; i++) {
        fm_encoder *encoder = new_encoder();
        CHECK(begin(encoder) == FM_OK);
        fm_encoder_release(encoder);
    }
}

static void a_queue_of_uncommitted_encoders_is_refused(void) {
    fm_encoder *encoders[FM_MAX_COMMAND_BUFFERS], *one_more = new_encoder();
    for (int i = 0; i < FM_MAX_COMMAND_BUFFERS; i++) {
        encoders[i] = new_encoder();
        CHECK(begin(encoders[i]) == FM_OK);
    }
    CHECK(fails(begin(one_more), FM_INVALID_STATE, "all 64 command buffers"));
    CHECK(fails(fm_encoder_commit(one_more, &error), FM_INVALID_STATE, "not committed"));
    fm_encoder_release(encoders[0]);
    CHECK(begin(one_more) == FM_OK);
    CHECK(fm_encoder_commit(encoders[1], &error) == FM_OK);
    CHECK(fm_encoder_commit(one_more, &error) == FM_OK);
    CHECK(fm_encoder_wait(one_more, -1, &error) == FM_OK);
    for (int i = 1; i < FM_MAX_COMMAND_BUFFERS; i++)
        fm_encoder_release(encoders[i]);
    fm_encoder_release(one_more);
}

static atomic_bool began;

static void *begin_one_more(void *encoder) {
    fm_error none = {0};
    CHECK(fm_encoder_begin(encoder, NULL, -1, &none) == FM_OK);
    atomic_store(&began, true);
    return NULL;
}

static void the_65th_waits_while_work_is_in_flight(void) {
    fm_encoder *encoders[FM_MAX_COMMAND_BUFFERS], *one_more = new_encoder();
    pthread_t thread;
    atomic_store(&began, false);
    CHECK(host->faults("hang:ms=150") == 1);
    for (int i = 0; i < FM_MAX_COMMAND_BUFFERS; i++) {
        encoders[i] = new_encoder();
        CHECK(fm_encoder_commit(encoders[i], &error) == FM_OK);
    }
    CHECK(fails(fm_encoder_begin(one_more, NULL, 0, &error), FM_TIMED_OUT, "in use"));
    CHECK(fails(fm_encoder_begin(one_more, NULL, 5000000, &error), FM_TIMED_OUT, "in use"));
    CHECK(!fm_encoder_has_begun(one_more));
    CHECK(pthread_create(&thread, NULL, begin_one_more, one_more) == 0);
    sleep_ms(30);
    CHECK(!atomic_load(&began));
    CHECK(fm_encoder_wait(encoders[0], -1, &error) == FM_OK);
    CHECK(pthread_join(thread, NULL) == 0 && atomic_load(&began));
    for (int i = 0; i < FM_MAX_COMMAND_BUFFERS; i++)
        fm_encoder_release(encoders[i]);
    fm_encoder_release(one_more);
}

static void a_released_encoder_lets_its_work_finish(void) {
    fm_buffer *a = new_buffer(4), *out = new_buffer(4);
    fm_encoder *encoder = new_encoder();
    CHECK(dispatch_scale_add(encoder, a, out, (scale_add_parameters){1, 8}) == FM_OK);
    CHECK(host->faults("hang:ms=30") == 1);
    CHECK(fm_encoder_commit(encoder, &error) == FM_OK);
    fm_encoder_release(encoder);
    CHECK(host->quiesce(5000));
    CHECK(*(const float *)fm_buffer_contents(out) == 8);
    fm_buffer_release(out);
    fm_buffer_release(a);
}

static void gpu_times_come_with_completion(void) {
    double start = -1, end = -1;
    fm_encoder *encoder = new_encoder();
    CHECK(host->faults("hang:ms=20") == 1);
    CHECK(fm_encoder_commit(encoder, &error) == FM_OK);
    fm_encoder_get_gpu_time(encoder, &start, &end);
    CHECK(start == 0 && end == 0);
    CHECK(fm_encoder_wait(encoder, -1, &error) == FM_OK);
    fm_encoder_get_gpu_time(encoder, &start, &end);
    CHECK(start > 0 && end >= start && end - start < 10);
    fm_encoder_release(encoder);
}

int main(void) {
    static const bridge_case CASES[] = {
        {"states follow the work", states_follow_the_work},
        {"an encoder that never began holds nothing of Metal",
         an_encoder_that_never_began_holds_nothing_of_metal},
        {"calls before begin are refused", calls_before_begin_are_refused},
        {"calls after commit are refused", calls_after_commit_are_refused},
        {"a bad label leaves the encoder as it was", a_bad_label_leaves_the_encoder_as_it_was},
        {"refusals of Metal leave the encoder as it was",
         refusals_of_metal_leave_the_encoder_as_it_was},
        {"refusals do not use up the queue", refusals_do_not_use_up_the_queue},
        {"discarded encoders do not use up the queue", discarded_encoders_do_not_use_up_the_queue},
        {"a queue of uncommitted encoders is refused", a_queue_of_uncommitted_encoders_is_refused},
        {"the 65th waits while work is in flight", the_65th_waits_while_work_is_in_flight},
        {"a released encoder lets its work finish", a_released_encoder_lets_its_work_finish},
        {"GPU times come with completion", gpu_times_come_with_completion},
    };
    return run_cases(CASES, LENGTH(CASES));
}
