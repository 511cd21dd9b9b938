"""The bridge: the only extension that links it, and the only place where a status becomes an error.

In a forked child Metal is gone: `check_not_forked` says so, and releases leave everything alone,
because another thread of the parent may hold Metal's locks for ever.
"""

from cpython.exc cimport PyErr_CheckSignals, PyErr_Occurred
from libc.stdint cimport int64_t

from flashmetal.errors import (
    CommandBufferError,
    DeviceNotFound,
    FlashMetalError,
    InvalidArgument,
    InvalidState,
    IoError,
    ShaderCompilationError,
    UnsupportedFeature,
)

__all__ = ["version"]


cdef extern from "pthread.h" nogil:
    int pthread_atfork(void (*prepare)() noexcept, void (*parent)() noexcept,
                       void (*child)() noexcept)


cdef extern from "flashmetal.h" nogil:
    const char *fm_version()
    void fm_error_clear(fm_error *error)

    fm_status fm_device_create(const fm_device_options *options, fm_device **out, fm_error *error)
    void fm_device_get_info(const fm_device *device, fm_device_info *out)
    void fm_device_release(fm_device *device)
    const void *fm_host_control()

    fm_status fm_buffer_create(fm_device *device, size_t length, fm_buffer **out, fm_error *error)
    fm_status fm_buffer_wrap(fm_device *device, void *memory, size_t length, fm_release_fn release,
                             void *context, fm_buffer **out, fm_error *error)
    void *fm_buffer_contents(const fm_buffer *buffer)
    size_t fm_buffer_length(const fm_buffer *buffer)
    void fm_buffer_limit(fm_buffer *buffer, size_t end)
    fm_status fm_buffer_track(fm_buffer *buffer, fm_error *error)
    void fm_buffer_track_with(fm_buffer *buffer, const fm_buffer *other)
    bint fm_buffer_is_busy(const fm_buffer *buffer)
    void fm_buffer_release(fm_buffer *buffer)

    fm_status fm_library_compile(fm_device *device, const char *source, size_t length,
                                 const fm_compile_options *options, fm_library **out,
                                 fm_error *error)
    fm_status fm_library_open(fm_device *device, const char *path, fm_library **out,
                              fm_error *error)
    char *fm_library_copy_names(const fm_library *library)
    char *fm_library_copy_constants(const fm_library *library, const char *function)
    void fm_library_release(fm_library *library)

    fm_status fm_pipeline_create(fm_device *device, fm_library *library, const char *function,
                                 const fm_constant *constants, size_t constant_count,
                                 fm_pipeline **out, fm_error *error)
    const fm_pipeline_info *fm_pipeline_get_info(const fm_pipeline *pipeline)
    void fm_pipeline_release(fm_pipeline *pipeline)

    fm_status fm_wakeup_create(fm_wakeup **out, fm_error *error)
    int fm_wakeup_descriptor(const fm_wakeup *wakeup)
    void fm_wakeup_clear(fm_wakeup *wakeup)
    void fm_wakeup_release(fm_wakeup *wakeup)

    fm_status fm_encoder_create(fm_device *device, fm_encoder **out, fm_error *error)
    fm_status fm_encoder_begin(fm_encoder *encoder, const char *label, int64_t timeout_ns,
                               fm_error *error)
    bint fm_encoder_has_begun(const fm_encoder *encoder)
    fm_status fm_encoder_dispatch(fm_encoder *encoder, const fm_dispatch *dispatch,
                                  fm_error *error)
    fm_status fm_encoder_barrier(fm_encoder *encoder, fm_error *error)
    fm_status fm_encoder_commit(fm_encoder *encoder, fm_error *error)
    fm_status fm_encoder_wait(fm_encoder *encoder, int64_t timeout_ns, fm_error *error)
    fm_status fm_encoder_spin(fm_encoder *encoder, int64_t timeout_ns, fm_error *error)
    fm_status fm_encoder_notify(fm_encoder *encoder, fm_wakeup *wakeup, fm_error *error)
    fm_encoder_state fm_encoder_get_state(const fm_encoder *encoder)
    void fm_encoder_get_gpu_time(const fm_encoder *encoder, double *start, double *end)
    void fm_encoder_release(fm_encoder *encoder)


# A refused command queue, command buffer or encoder comes here; a refused buffer does not, because
# its error names the bytes that were asked for. FM_TIMED_OUT is the encoder's own affair.
cdef dict ERROR_OF_STATUS = {
    FM_DEVICE_NOT_FOUND: DeviceNotFound,
    FM_ALLOCATION_FAILED: CommandBufferError,
    FM_INVALID_ARGUMENT: InvalidArgument,
    FM_INVALID_STATE: InvalidState,
    FM_COMPILATION_FAILED: ShaderCompilationError,
    FM_COMMAND_FAILED: CommandBufferError,
    FM_UNSUPPORTED: UnsupportedFeature,
    FM_IO_FAILED: IoError,
}

cdef bint made_device = False
cdef bint forked = False


cdef void note_fork() noexcept nogil:
    global forked
    forked = made_device


pthread_atfork(NULL, NULL, note_fork)


def version():
    """Give the version of the library."""
    return fm_version().decode()


cdef int check(fm_status status, fm_error *error, const char *name) except -1 nogil:
    if status == FM_OK:
        return 0
    return raise_error(status, error, name)


cdef int raise_error(fm_status status, fm_error *error, const char *name) except -1 with gil:
    # What a signal handler has raised comes first: the failure may be its doing.
    if PyErr_Occurred() is not NULL:
        fm_error_clear(error)
        return -1
    message = "out of memory"
    code = 0
    if error != NULL:
        code = error.code
        if error.message != NULL:
            message = error.message.decode("utf-8", "replace")
        fm_error_clear(error)
    PyErr_CheckSignals()
    text = None if name == NULL else name.decode("utf-8", "replace")
    raise ERROR_OF_STATUS.get(status, FlashMetalError).from_bridge(message, code, text)


cdef void error_clear(fm_error *error) noexcept nogil:
    fm_error_clear(error)


cdef bint is_forked() noexcept nogil:
    return forked


cdef int check_not_forked() except -1:
    if forked:
        raise InvalidState(
            "this process was forked after the first device was made, and Metal does not survive "
            "a fork; use the start method 'spawn' or 'forkserver', or fork first"
        )
    return 0


cdef fm_status device_create(const fm_device_options *options, fm_device **out,
                             fm_error *error) noexcept nogil:
    global made_device
    made_device = True
    return fm_device_create(options, out, error)


cdef void device_get_info(const fm_device *device, fm_device_info *out) noexcept nogil:
    fm_device_get_info(device, out)


cdef void device_release(fm_device *device) noexcept nogil:
    if not forked:
        fm_device_release(device)


cdef const void *host_control() noexcept nogil:
    return fm_host_control()


cdef fm_status buffer_create(fm_device *device, size_t length, fm_buffer **out,
                             fm_error *error) noexcept nogil:
    return fm_buffer_create(device, length, out, error)


cdef fm_status buffer_wrap(fm_device *device, void *memory, size_t length, fm_release_fn release,
                           void *context, fm_buffer **out, fm_error *error) noexcept nogil:
    return fm_buffer_wrap(device, memory, length, release, context, out, error)


cdef void buffer_limit(fm_buffer *buffer, size_t end) noexcept nogil:
    fm_buffer_limit(buffer, end)


cdef void *buffer_contents(const fm_buffer *buffer) noexcept nogil:
    return fm_buffer_contents(buffer)


cdef size_t buffer_length(const fm_buffer *buffer) noexcept nogil:
    return fm_buffer_length(buffer)


cdef fm_status buffer_track(fm_buffer *buffer, fm_error *error) noexcept nogil:
    return fm_buffer_track(buffer, error)


cdef void buffer_track_with(fm_buffer *buffer, const fm_buffer *other) noexcept nogil:
    fm_buffer_track_with(buffer, other)


cdef bint buffer_is_busy(const fm_buffer *buffer) noexcept nogil:
    return fm_buffer_is_busy(buffer)


cdef void buffer_release(fm_buffer *buffer) noexcept nogil:
    if not forked:
        fm_buffer_release(buffer)


cdef fm_status library_compile(fm_device *device, const char *source, size_t length,
                               const fm_compile_options *options, fm_library **out,
                               fm_error *error) noexcept nogil:
    return fm_library_compile(device, source, length, options, out, error)


cdef fm_status library_open(fm_device *device, const char *path, fm_library **out,
                            fm_error *error) noexcept nogil:
    return fm_library_open(device, path, out, error)


cdef char *library_copy_names(const fm_library *library) noexcept nogil:
    return fm_library_copy_names(library)


cdef char *library_copy_constants(const fm_library *library,
                                  const char *function) noexcept nogil:
    return fm_library_copy_constants(library, function)


cdef void library_release(fm_library *library) noexcept nogil:
    if not forked:
        fm_library_release(library)


cdef fm_status pipeline_create(fm_device *device, fm_library *library, const char *function,
                               const fm_constant *constants, size_t constant_count,
                               fm_pipeline **out, fm_error *error) noexcept nogil:
    return fm_pipeline_create(device, library, function, constants, constant_count, out, error)


cdef const fm_pipeline_info *pipeline_get_info(const fm_pipeline *pipeline) noexcept nogil:
    return fm_pipeline_get_info(pipeline)


cdef void pipeline_release(fm_pipeline *pipeline) noexcept nogil:
    if not forked:
        fm_pipeline_release(pipeline)


cdef fm_status wakeup_create(fm_wakeup **out, fm_error *error) noexcept nogil:
    return fm_wakeup_create(out, error)


cdef int wakeup_descriptor(const fm_wakeup *wakeup) noexcept nogil:
    return fm_wakeup_descriptor(wakeup)


cdef void wakeup_clear(fm_wakeup *wakeup) noexcept nogil:
    fm_wakeup_clear(wakeup)


cdef void wakeup_release(fm_wakeup *wakeup) noexcept nogil:
    fm_wakeup_release(wakeup)


cdef fm_status encoder_create(fm_device *device, fm_encoder **out, fm_error *error) noexcept nogil:
    return fm_encoder_create(device, out, error)


cdef fm_status encoder_begin(fm_encoder *encoder, const char *label, int64_t timeout_ns,
                             fm_error *error) noexcept nogil:
    return fm_encoder_begin(encoder, label, timeout_ns, error)


cdef bint encoder_has_begun(const fm_encoder *encoder) noexcept nogil:
    return fm_encoder_has_begun(encoder)


cdef fm_status encoder_dispatch(fm_encoder *encoder, const fm_dispatch *dispatch,
                                fm_error *error) noexcept nogil:
    # Plans ask nobody else on their way here.
    if forked:
        return FM_INVALID_STATE
    return fm_encoder_dispatch(encoder, dispatch, error)


cdef fm_status encoder_barrier(fm_encoder *encoder, fm_error *error) noexcept nogil:
    if forked:
        return FM_INVALID_STATE
    return fm_encoder_barrier(encoder, error)


cdef fm_status encoder_commit(fm_encoder *encoder, fm_error *error) noexcept nogil:
    return fm_encoder_commit(encoder, error)


cdef fm_status encoder_wait(fm_encoder *encoder, int64_t timeout_ns,
                            fm_error *error) noexcept nogil:
    return fm_encoder_wait(encoder, timeout_ns, error)


cdef fm_status encoder_spin(fm_encoder *encoder, int64_t timeout_ns,
                            fm_error *error) noexcept nogil:
    return fm_encoder_spin(encoder, timeout_ns, error)


cdef fm_status encoder_notify(fm_encoder *encoder, fm_wakeup *wakeup,
                              fm_error *error) noexcept nogil:
    return fm_encoder_notify(encoder, wakeup, error)


cdef fm_encoder_state encoder_get_state(const fm_encoder *encoder) noexcept nogil:
    return fm_encoder_get_state(encoder)


cdef void encoder_get_gpu_time(const fm_encoder *encoder, double *start,
                               double *end) noexcept nogil:
    fm_encoder_get_gpu_time(encoder, start, end)


cdef void encoder_release(fm_encoder *encoder) noexcept nogil:
    if not forked:
        fm_encoder_release(encoder)
