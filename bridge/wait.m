/* Waiting for committed work: asleep until Metal's handler has written the completion record, or
 * awake, looking. */
#import "internal.h"
#include <sched.h>
#include "condition.h"

enum {
    LOOKS = 16, /* between two readings of the clock, which takes as long as all of them */
    /* A thread of Metal's may wait for just the core that a waiter keeps busy. */
    PATIENCE_NS = 20000,
};

static fm_status check_committed(const fm_encoder *encoder, fm_error *error) {
    if (atomic_load(&encoder->committed)) return FM_OK;
    return fm_fail(error, FM_INVALID_STATE, "the encoder is not committed yet");
}

static void help(const fm_encoder *encoder) {
    if (!fm_completion_is_done(encoder->completion)) fm_system_help(encoder->device->queue);
}

fm_status fm_encoder_wait(fm_encoder *encoder, int64_t timeout_ns, fm_error *error) {
    fm_status status = check_committed(encoder, error);
    if (status != FM_OK) return status;
    if (timeout_ns != 0) help(encoder);
    return fm_completion_wait(encoder->completion, timeout_ns, error);
}

fm_status fm_encoder_notify(fm_encoder *encoder, fm_wakeup *wakeup, fm_error *error) {
    fm_status status = check_committed(encoder, error);
    return status == FM_OK ? fm_completion_notify(encoder->completion, wakeup, error) : status;
}

static void relax(void) {
#if __has_builtin(__builtin_ia32_pause)
    __builtin_ia32_pause();
#elif __has_builtin(__builtin_arm_yield)
    __builtin_arm_yield();
#endif
}

/* The device is done when its event says so, before Metal's thread has written how it ended. */
static bool look(const fm_encoder *encoder, bool *device_is_done) {
    for (int i = 0; i < LOOKS; i++) {
        if (fm_completion_is_done(encoder->completion)) return true;
        *device_is_done = encoder->device->event.signaledValue >= encoder->signal;
        if (*device_is_done) return false;
        relax();
    }
    return false;
}

static void spin(const fm_encoder *encoder, uint64_t duration) {
    bool device_is_done;
    uint64_t start = fm_monotonic_nanoseconds(), passed = 0;
    while (!look(encoder, &device_is_done) && passed < duration) {
        if (device_is_done || passed > PATIENCE_NS) sched_yield();
        passed = fm_monotonic_nanoseconds() - start;
    }
}

fm_status fm_encoder_spin(fm_encoder *encoder, int64_t timeout_ns, fm_error *error) {
    fm_status status = check_committed(encoder, error);
    if (status != FM_OK) return status;
    if (timeout_ns != 0) help(encoder);
    if (!fm_completion_is_done(encoder->completion))
        spin(encoder, timeout_ns < 0 ? UINT64_MAX : (uint64_t)timeout_ns);
    return fm_completion_wait(encoder->completion, 0, error);
}
