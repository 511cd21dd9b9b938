/* Eight threads at once: handles of their own, one device for all, one encoder waited for by all.
 */
#include "bridge_test.h"
#include <pthread.h>
#include <stdatomic.h>

enum { THREADS = 8, ROUNDS = 60, COUNT = 100 };

static atomic_int wrong;

static void on_all_threads(void *(*run)(void *), void *argument) {
    pthread_t threads[THREADS];
    atomic_store(&wrong, 0);
    for (int i = 0; i < THREADS; i++)
        CHECK(pthread_create(&threads[i], NULL, run, argument) == 0);
    for (int i = 0; i < THREADS; i++)
        CHECK(pthread_join(threads[i], NULL) == 0);
    CHECK(atomic_load(&wrong) == 0);
}

/* One round with errors of its own: the shared ones belong to the main thread. */
static bool one_round(float addend) {
    fm_buffer *a = NULL, *out = NULL;
    fm_encoder *encoder = NULL;
    const scale_add_parameters parameters = {COUNT, addend};
    bool right = fm_buffer_create(device, COUNT * sizeof(float), &a, NULL) == FM_OK &&
                 fm_buffer_create(device, COUNT * sizeof(float), &out, NULL) == FM_OK &&
                 fm_encoder_create(device, &encoder, NULL) == FM_OK &&
                 dispatch_scale_add(encoder, a, out, parameters) == FM_OK &&
                 fm_encoder_commit(encoder, NULL) == FM_OK &&
                 fm_encoder_wait(encoder, -1, NULL) == FM_OK &&
                 ((const float *)fm_buffer_contents(out))[COUNT - 1] == addend;
    fm_encoder_release(encoder);
    fm_buffer_release(out);
    fm_buffer_release(a);
    return right;
}

static void *run_rounds(void *unused) {
    (void)unused;
    for (int i = 0; i < ROUNDS; i++)
        if (!one_round((float)i)) atomic_fetch_add(&wrong, 1);
    return NULL;
}

static void threads_encode_at_the_same_time(void) {
    on_all_threads(run_rounds, NULL);
}

static void *wait_for_it(void *encoder) {
    fm_error own = {0};
    while (fm_encoder_wait(encoder, 1000000, &own) == FM_TIMED_OUT)
        continue;
    if (fm_encoder_wait(encoder, -1, &own) != FM_COMMAND_FAILED || own.code != 3)
        atomic_fetch_add(&wrong, 1);
    fm_error_clear(&own);
    return NULL;
}

static void threads_wait_for_the_same_encoder(void) {
    fm_encoder *encoder = new_encoder();
    CHECK(host->faults("exec:code=3:ms=50") == 1);
    CHECK(fm_encoder_commit(encoder, &error) == FM_OK);
    on_all_threads(wait_for_it, encoder);
    fm_encoder_release(encoder);
}

static void *begin_and_discard(void *unused) {
    (void)unused;
    for (int i = 0; i < ROUNDS; i++) {
        fm_encoder *encoders[FM_MAX_COMMAND_BUFFERS / THREADS];
        for (size_t n = 0; n < LENGTH(encoders); n++)
            if (fm_encoder_create(device, &encoders[n], NULL) != FM_OK ||
                fm_encoder_begin(encoders[n], NULL, -1, NULL) != FM_OK)
                atomic_fetch_add(&wrong, 1);
        for (size_t n = 0; n < LENGTH(encoders); n++)
            fm_encoder_release(encoders[n]);
    }
    return NULL;
}

static void the_whole_queue_can_be_uncommitted(void) {
    on_all_threads(begin_and_discard, NULL);
}

static void *open_and_close(void *unused) {
    (void)unused;
    for (int i = 0; i < ROUNDS / 4; i++) {
        fm_device *own = NULL;
        fm_encoder *encoder = NULL;
        if (fm_device_create(NULL, &own, NULL) != FM_OK ||
            fm_encoder_create(own, &encoder, NULL) != FM_OK ||
            fm_encoder_commit(encoder, NULL) != FM_OK)
            atomic_fetch_add(&wrong, 1);
        fm_encoder_release(encoder);
        fm_device_release(own);
    }
    return NULL;
}

static void devices_come_and_go_with_work_in_flight(void) {
    on_all_threads(open_and_close, NULL);
}

int main(void) {
    static const bridge_case CASES[] = {
        {"threads encode at the same time", threads_encode_at_the_same_time},
        {"threads wait for the same encoder", threads_wait_for_the_same_encoder},
        {"the whole queue can be uncommitted", the_whole_queue_can_be_uncommitted},
        {"devices come and go with work in flight", devices_come_and_go_with_work_in_flight},
    };
    return run_cases(CASES, LENGTH(CASES));
}
