/* Dispatches: results, and the messages that are sent and left out. */
#include "bridge_test.h"

enum { COUNT = 1000 };

static const scale_add_parameters ALL = {COUNT, 0.5f};

static fm_status finish(fm_encoder *encoder) {
    fm_status status = fm_encoder_commit(encoder, &error);
    return status != FM_OK ? status : fm_encoder_wait(encoder, -1, &error);
}

static fm_buffer *ramp(void) {
    fm_buffer *buffer = new_buffer(COUNT * sizeof(float));
    float *values = fm_buffer_contents(buffer);
    for (int i = 0; i < COUNT; i++)
        values[i] = (float)i;
    return buffer;
}

static void results_are_there_after_the_wait(void) {
    fm_buffer *a = ramp(), *out = new_buffer(COUNT * sizeof(float));
    fm_encoder *encoder = new_encoder();
    CHECK(dispatch_scale_add(encoder, a, out, ALL) == FM_OK);
    CHECK(finish(encoder) == FM_OK);
    const float *values = fm_buffer_contents(out);
    int right = 0;
    while (right < COUNT && values[right] == (float)right * 3 + 0.5f)
        right++;
    CHECK(right == COUNT);
    fm_encoder_release(encoder);
    fm_buffer_release(out);
    fm_buffer_release(a);
}

static void a_barrier_orders_dispatches(void) {
    fm_buffer *a = ramp(), *b = new_buffer(COUNT * sizeof(float));
    fm_encoder *encoder = new_encoder();
    for (int i = 0; i < 4; i++) {
        CHECK(dispatch_scale_add(encoder, i % 2 ? b : a, i % 2 ? a : b,
                                 (scale_add_parameters){COUNT, 0}) == FM_OK);
        CHECK(fm_encoder_barrier(encoder, &error) == FM_OK);
    }
    CHECK(finish(encoder) == FM_OK);
    CHECK(((const float *)fm_buffer_contents(a))[7] == 7 * 81);
    fm_encoder_release(encoder);
    fm_buffer_release(b);
    fm_buffer_release(a);
}

static void exact_threads_leave_a_ragged_threadgroup(void) {
    fm_buffer *out = new_buffer(3 * sizeof(uint32_t));
    fm_encoder *encoder = new_encoder();
    const fm_argument argument = {.index = 1, .buffer = out};
    const fm_threadgroup_memory memory = {.index = 0, .length = 64 * sizeof(uint32_t)};
    const fm_dispatch dispatch = {.pipeline = count_threads,
                                  .arguments = &argument,
                                  .argument_count = 1,
                                  .threadgroup_memory = &memory,
                                  .threadgroup_memory_count = 1,
                                  .grid = {150, 1, 1},
                                  .threads_per_threadgroup = {64, 1, 1},
                                  .exact_threads = true};
    CHECK(fm_encoder_begin(encoder, NULL, -1, &error) == FM_OK);
    CHECK(fm_encoder_dispatch(encoder, &dispatch, &error) == FM_OK);
    CHECK(finish(encoder) == FM_OK);
    const uint32_t *counts = fm_buffer_contents(out);
    CHECK(counts[0] == 64 && counts[1] == 64 && counts[2] == 22);
    fm_encoder_release(encoder);
    fm_buffer_release(out);
}

/* Messages to the encoder that one more dispatch takes. */
static uint64_t messages(fm_encoder *encoder, const fm_dispatch *dispatch) {
    uint64_t before = host->message_count();
    CHECK(fm_encoder_dispatch(encoder, dispatch, &error) == FM_OK);
    return host->message_count() - before;
}

static void only_what_changed_is_sent(void) {
    fm_buffer *a = ramp(), *out = new_buffer(2 * COUNT * sizeof(float));
    fm_encoder *encoder = new_encoder();
    fm_argument arguments[] = {
        {.index = 0, .buffer = a},
        {.index = 1, .buffer = out},
        {.index = 2, .bytes = &ALL, .length = sizeof ALL},
    };
    fm_dispatch dispatch = {.pipeline = scale_add,
                            .arguments = arguments,
                            .argument_count = LENGTH(arguments),
                            .grid = {(COUNT + 63) / 64, 1, 1},
                            .threads_per_threadgroup = {64, 1, 1}};
    CHECK(fm_encoder_begin(encoder, NULL, -1, &error) == FM_OK);
    CHECK(messages(encoder, &dispatch) == 5); /* pipeline, two buffers, bytes, dispatch */
    CHECK(messages(encoder, &dispatch) == 2); /* bytes, dispatch */
    arguments[1].offset = COUNT * sizeof(float);
    CHECK(messages(encoder, &dispatch) == 3); /* offset, bytes, dispatch */
    CHECK(messages(encoder, &dispatch) == 2);
    arguments[0].buffer = out;
    arguments[0].offset = 0;
    CHECK(messages(encoder, &dispatch) == 3); /* buffer, bytes, dispatch */
    dispatch.argument_count = 2;
    CHECK(messages(encoder, &dispatch) == 1);
    CHECK(finish(encoder) == FM_OK);
    CHECK(((const float *)fm_buffer_contents(out))[COUNT - 1] == (COUNT - 1) * 3 + 0.5f);
    fm_encoder_release(encoder);
    fm_buffer_release(out);
    fm_buffer_release(a);
}

static void bytes_take_the_place_of_a_buffer(void) {
    fm_buffer *a = ramp(), *out = new_buffer(COUNT * sizeof(float));
    fm_encoder *encoder = new_encoder();
    const float zeros[COUNT] = {0};
    fm_argument arguments[] = {
        {.index = 0, .buffer = a},
        {.index = 1, .buffer = out},
        {.index = 2, .bytes = &ALL, .length = sizeof ALL},
    };
    const fm_dispatch dispatch = {.pipeline = scale_add,
                                  .arguments = arguments,
                                  .argument_count = LENGTH(arguments),
                                  .grid = {(COUNT + 63) / 64, 1, 1},
                                  .threads_per_threadgroup = {64, 1, 1}};
    CHECK(fm_encoder_begin(encoder, NULL, -1, &error) == FM_OK);
    CHECK(fm_encoder_dispatch(encoder, &dispatch, &error) == FM_OK);
    arguments[0] = (fm_argument){.index = 0, .bytes = zeros, .length = sizeof zeros};
    CHECK(fm_encoder_dispatch(encoder, &dispatch, &error) == FM_OK);
    arguments[0] = (fm_argument){.index = 0, .buffer = a};
    CHECK(fm_encoder_barrier(encoder, &error) == FM_OK);
    CHECK(messages(encoder, &dispatch) == 3); /* the buffer is set again after the bytes */
    CHECK(finish(encoder) == FM_OK);
    CHECK(((const float *)fm_buffer_contents(out))[10] == 30.5f);
    fm_encoder_release(encoder);
    fm_buffer_release(out);
    fm_buffer_release(a);
}

static void threadgroup_memory_is_sent_when_it_changes(void) {
    fm_buffer *out = new_buffer(2 * sizeof(uint32_t));
    fm_encoder *encoder = new_encoder();
    const fm_argument argument = {.index = 1, .buffer = out};
    fm_threadgroup_memory memory = {.index = 0, .length = 256};
    const fm_dispatch dispatch = {.pipeline = count_threads,
                                  .arguments = &argument,
                                  .argument_count = 1,
                                  .threadgroup_memory = &memory,
                                  .threadgroup_memory_count = 1,
                                  .grid = {2, 1, 1},
                                  .threads_per_threadgroup = {64, 1, 1}};
    CHECK(fm_encoder_begin(encoder, NULL, -1, &error) == FM_OK);
    CHECK(messages(encoder, &dispatch) == 4);
    CHECK(messages(encoder, &dispatch) == 1);
    memory.length = 512;
    CHECK(messages(encoder, &dispatch) == 2);
    CHECK(finish(encoder) == FM_OK);
    CHECK(((const uint32_t *)fm_buffer_contents(out))[1] == 64);
    fm_encoder_release(encoder);
    fm_buffer_release(out);
}

static void an_index_out_of_range_sets_nothing(void) {
    fm_buffer *a = ramp();
    fm_encoder *encoder = new_encoder();
    const fm_argument arguments[] = {{.index = 0, .buffer = a},
                                     {.index = FM_MAX_BUFFERS, .buffer = a}};
    const fm_threadgroup_memory memory = {.index = 31, .length = 16};
    const fm_dispatch bad_argument = {
        .pipeline = scale_add, .arguments = arguments, .argument_count = 2};
    const fm_dispatch bad_memory = {
        .pipeline = scale_add, .threadgroup_memory = &memory, .threadgroup_memory_count = 1};
    CHECK(fm_encoder_begin(encoder, NULL, -1, &error) == FM_OK);
    uint64_t before = host->message_count();
    CHECK(fails(fm_encoder_dispatch(encoder, &bad_argument, &error), FM_INVALID_ARGUMENT, "31"));
    CHECK(fails(fm_encoder_dispatch(encoder, &bad_memory, &error), FM_INVALID_ARGUMENT, "31"));
    CHECK(host->message_count() == before);
    fm_encoder_release(encoder);
    fm_buffer_release(a);
}

int main(void) {
    static const bridge_case CASES[] = {
        {"results are there after the wait", results_are_there_after_the_wait},
        {"a barrier orders dispatches", a_barrier_orders_dispatches},
        {"exact threads leave a ragged threadgroup", exact_threads_leave_a_ragged_threadgroup},
        {"only what changed is sent", only_what_changed_is_sent},
        {"bytes take the place of a buffer", bytes_take_the_place_of_a_buffer},
        {"threadgroup memory is sent when it changes", threadgroup_memory_is_sent_when_it_changes},
        {"an index out of range sets nothing", an_index_out_of_range_sets_nothing},
    };
    return run_cases(CASES, LENGTH(CASES));
}
