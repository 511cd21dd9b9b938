/* Buffers: zeroed, wrapped without a copy, refused, and released when the last user is done. */
#include "bridge_test.h"
#include <stdatomic.h>
#include <stdlib.h>

enum { PAGE = 16384 };

typedef struct release_record {
    atomic_int calls;
    void *memory;
    size_t length;
} release_record;

static void record_release(void *memory, size_t length, void *context) {
    release_record *record = context;
    record->memory = memory;
    record->length = length;
    atomic_fetch_add(&record->calls, 1);
}

static void a_new_buffer_is_zeroed_and_aligned(void) {
    fm_buffer *buffer = new_buffer(3 * PAGE + 5);
    const unsigned char *contents = fm_buffer_contents(buffer);
    size_t zeros = 0;
    while (zeros < fm_buffer_length(buffer) && contents[zeros] == 0)
        zeros++;
    CHECK(zeros == 3 * PAGE + 5);
    CHECK((uintptr_t)contents % PAGE == 0);
    fm_buffer_release(buffer);
}

static void memory_used_before_comes_back_zeroed(void) {
    for (int i = 0; i < 20; i++) {
        fm_buffer *buffer = new_buffer(PAGE);
        unsigned char *contents = fm_buffer_contents(buffer);
        CHECK(contents[0] == 0 && contents[PAGE - 1] == 0);
        contents[0] = contents[PAGE - 1] = 255;
        fm_buffer_release(buffer);
    }
}

static void no_bytes_are_refused(void) {
    fm_buffer *buffer = NULL;
    CHECK(fails(fm_buffer_create(device, 0, &buffer, &error), FM_INVALID_ARGUMENT,
                "Buffer byte length must be > 0"));
    CHECK(!buffer);
}

static void too_many_bytes_are_refused(void) {
    fm_device_info info;
    fm_buffer *buffer = NULL;
    fm_device_get_info(device, &info);
    CHECK(fails(fm_buffer_create(device, info.max_buffer_length + 1, &buffer, &error),
                FM_ALLOCATION_FAILED, "more than"));
    CHECK(fails(fm_buffer_create(device, SIZE_MAX, &buffer, &error), FM_ALLOCATION_FAILED,
                "18446744073709551615 bytes"));
    CHECK(!buffer);
}

static void a_refusal_of_metal_is_an_error(void) {
    fm_buffer *buffer = NULL, *first = NULL;
    CHECK(host->faults("buffer:after=1") == 1);
    CHECK(fm_buffer_create(device, 64, &first, &error) == FM_OK);
    CHECK(fails(fm_buffer_create(device, 64, &buffer, &error), FM_ALLOCATION_FAILED, "64 bytes"));
    CHECK(!buffer);
    fm_buffer_release(first);
}

static void the_memory_budget_is_an_error(void) {
    hm_limits limits;
    fm_buffer *first = NULL, *second = NULL;
    host->get_limits(&limits);
    limits.budget = 4 * PAGE;
    host->set_limits(&limits);
    CHECK(fm_buffer_create(device, 3 * PAGE, &first, &error) == FM_OK);
    CHECK(fails(fm_buffer_create(device, 3 * PAGE, &second, &error), FM_ALLOCATION_FAILED,
                "49152 bytes"));
    fm_buffer_release(first);
    CHECK(fm_buffer_create(device, 3 * PAGE, &second, &error) == FM_OK);
    fm_buffer_release(second);
    host->set_limits(NULL);
}

static void wrapped_memory_is_used_in_place_and_released_once(void) {
    release_record record = {0};
    fm_buffer *buffer = NULL;
    void *memory = aligned_alloc(PAGE, 2 * PAGE);
    CHECK(fm_buffer_wrap(device, memory, 2 * PAGE, record_release, &record, &buffer, &error) ==
          FM_OK);
    CHECK(fm_buffer_contents(buffer) == memory && fm_buffer_length(buffer) == 2 * PAGE);
    CHECK(record.calls == 0);
    fm_buffer_release(buffer);
    CHECK(host->quiesce(1000) && record.calls == 1);
    CHECK(record.memory == memory && record.length == 2 * PAGE);
    free(memory);
}

static void wrapped_memory_needs_no_release_function(void) {
    fm_buffer *buffer = NULL;
    void *memory = aligned_alloc(PAGE, PAGE);
    CHECK(fm_buffer_wrap(device, memory, PAGE, NULL, NULL, &buffer, &error) == FM_OK);
    fm_buffer_release(buffer);
    free(memory);
}

static void refused_memory_is_not_released(void) {
    release_record record = {0};
    fm_buffer *buffer = NULL;
    char *memory = aligned_alloc(PAGE, 2 * PAGE);
    CHECK(fails(fm_buffer_wrap(device, memory + 64, PAGE, record_release, &record, &buffer, &error),
                FM_INVALID_ARGUMENT, "whole pages of 16384 bytes"));
    CHECK(fails(fm_buffer_wrap(device, memory, PAGE + 4, record_release, &record, &buffer, &error),
                FM_INVALID_ARGUMENT, "16388 bytes"));
    CHECK(fails(fm_buffer_wrap(device, memory, 0, record_release, &record, &buffer, &error),
                FM_INVALID_ARGUMENT, "must be > 0"));
    CHECK(host->faults("nocopy") == 1);
    CHECK(fails(fm_buffer_wrap(device, memory, PAGE, record_release, &record, &buffer, &error),
                FM_ALLOCATION_FAILED, "16384 bytes"));
    CHECK(!buffer && record.calls == 0);
    free(memory);
}

static void buffers_live_until_the_work_that_uses_them_is_done(void) {
    release_record record = {0};
    fm_buffer *a = NULL, *out = new_buffer(PAGE);
    float *memory = aligned_alloc(PAGE, PAGE);
    fm_encoder *encoder = new_encoder();
    memory[0] = 5;
    CHECK(fm_buffer_wrap(device, memory, PAGE, record_release, &record, &a, &error) == FM_OK);
    CHECK(dispatch_scale_add(encoder, a, out, (scale_add_parameters){1, 1}) == FM_OK);
    fm_buffer_release(a);
    CHECK(record.calls == 0);
    CHECK(host->faults("hang:ms=100") == 1);
    CHECK(fm_encoder_commit(encoder, &error) == FM_OK);
    sleep_ms(20);
    CHECK(record.calls == 0);
    CHECK(fm_encoder_wait(encoder, -1, &error) == FM_OK);
    CHECK(((const float *)fm_buffer_contents(out))[0] == 16);
    CHECK(host->quiesce(1000) && record.calls == 1);
    fm_encoder_release(encoder);
    fm_buffer_release(out);
    free(memory);
}

static void a_discarded_encoder_lets_go_of_its_buffers(void) {
    release_record record = {0};
    fm_buffer *a = NULL, *out = new_buffer(PAGE);
    void *memory = aligned_alloc(PAGE, PAGE);
    fm_encoder *encoder = new_encoder();
    CHECK(fm_buffer_wrap(device, memory, PAGE, record_release, &record, &a, &error) == FM_OK);
    CHECK(dispatch_scale_add(encoder, a, out, (scale_add_parameters){1, 1}) == FM_OK);
    fm_buffer_release(a);
    fm_encoder_release(encoder);
    CHECK(host->quiesce(1000) && record.calls == 1);
    fm_buffer_release(out);
    free(memory);
}

static void a_tracked_buffer_is_busy_while_command_buffers_bind_it(void) {
    fm_buffer *a = new_buffer(4), *out = new_buffer(4);
    fm_encoder *first = new_encoder(), *second = new_encoder(), *third = new_encoder();
    CHECK(!fm_buffer_is_busy(a));
    for (int i = 0; i < 2; i++)
        CHECK(fm_buffer_track(a, &error) == FM_OK);
    CHECK(!fm_buffer_is_busy(a));
    for (int i = 0; i < 3; i++)
        CHECK(dispatch_scale_add(first, a, out, (scale_add_parameters){1, 1}) == FM_OK);
    CHECK(dispatch_scale_add(second, out, a, (scale_add_parameters){1, 1}) == FM_OK);
    CHECK(dispatch_scale_add(third, out, out, (scale_add_parameters){1, 1}) == FM_OK);
    CHECK(fm_buffer_is_busy(a) && !fm_buffer_is_busy(out));
    CHECK(host->faults("hang:ms=50") == 1);
    CHECK(fm_encoder_commit(first, &error) == FM_OK);
    fm_encoder_release(second); /* discarded */
    CHECK(fm_buffer_is_busy(a));
    CHECK(fm_encoder_wait(first, -1, &error) == FM_OK);
    CHECK(!fm_buffer_is_busy(a));
    fm_encoder_release(first);
    fm_encoder_release(third);
    fm_buffer_release(out);
    fm_buffer_release(a);
}

static void two_buffers_of_one_memory_share_their_count(void) {
    void *memory = aligned_alloc(PAGE, PAGE);
    fm_buffer *a = NULL, *b = NULL, *plain = new_buffer(4), *out = new_buffer(4);
    fm_encoder *encoder = new_encoder();
    CHECK(fm_buffer_wrap(device, memory, PAGE, NULL, NULL, &a, &error) == FM_OK);
    CHECK(fm_buffer_wrap(device, memory, PAGE, NULL, NULL, &b, &error) == FM_OK);
    CHECK(fm_buffer_track(a, &error) == FM_OK);
    fm_buffer_track_with(b, a);
    fm_buffer_track_with(out, plain); /* not tracked, both */
    CHECK(dispatch_scale_add(encoder, b, out, (scale_add_parameters){1, 1}) == FM_OK);
    CHECK(fm_buffer_is_busy(a) && fm_buffer_is_busy(b) && !fm_buffer_is_busy(out));
    fm_buffer_release(a); /* before the other, and the work */
    CHECK(fm_buffer_is_busy(b));
    CHECK(fm_encoder_commit(encoder, &error) == FM_OK);
    CHECK(fm_encoder_wait(encoder, -1, &error) == FM_OK);
    CHECK(!fm_buffer_is_busy(b));
    fm_encoder_release(encoder);
    fm_buffer_release(b);
    fm_buffer_release(plain);
    fm_buffer_release(out);
    free(memory);
}

static void a_buffer_that_is_bound_again_is_counted(void) {
    fm_buffer *a = new_buffer(4), *out = new_buffer(4);
    fm_encoder *encoder = new_encoder();
    CHECK(dispatch_scale_add(encoder, out, out, (scale_add_parameters){1, 1}) == FM_OK);
    CHECK(fm_buffer_track(a, &error) == FM_OK);
    CHECK(dispatch_scale_add(encoder, a, out, (scale_add_parameters){1, 1}) == FM_OK);
    CHECK(fm_buffer_is_busy(a));
    fm_buffer_release(a); /* before the work that uses it */
    CHECK(fm_encoder_commit(encoder, &error) == FM_OK);
    CHECK(fm_encoder_wait(encoder, -1, &error) == FM_OK);
    fm_encoder_release(encoder);
    fm_buffer_release(out);
}

int main(void) {
    static const bridge_case CASES[] = {
        {"a new buffer is zeroed and aligned", a_new_buffer_is_zeroed_and_aligned},
        {"memory used before comes back zeroed", memory_used_before_comes_back_zeroed},
        {"no bytes are refused", no_bytes_are_refused},
        {"too many bytes are refused", too_many_bytes_are_refused},
        {"a refusal of Metal is an error", a_refusal_of_metal_is_an_error},
        {"the memory budget is an error", the_memory_budget_is_an_error},
        {"wrapped memory is used in place and released once",
         wrapped_memory_is_used_in_place_and_released_once},
        {"wrapped memory needs no release function", wrapped_memory_needs_no_release_function},
        {"refused memory is not released", refused_memory_is_not_released},
        {"buffers live until the work that uses them is done",
         buffers_live_until_the_work_that_uses_them_is_done},
        {"a discarded encoder lets go of its buffers", a_discarded_encoder_lets_go_of_its_buffers},
        {"a tracked buffer is busy while command buffers bind it",
         a_tracked_buffer_is_busy_while_command_buffers_bind_it},
        {"two buffers of one memory share their count",
         two_buffers_of_one_memory_share_their_count},
        {"a buffer that is bound again is counted", a_buffer_that_is_bound_again_is_counted},
    };
    return run_cases(CASES, LENGTH(CASES));
}
