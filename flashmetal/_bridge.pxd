# The C ABI for the other modules of the core: types from the header, functions through this one
# extension, which alone links the bridge.
from libc.stdint cimport int32_t, int64_t, uint32_t, uint64_t


cdef extern from "flashmetal.h" nogil:
    enum:
        FM_MAX_BUFFERS
        FM_MAX_BYTES
        FM_MAX_COMMAND_BUFFERS

    ctypedef enum fm_status:
        FM_OK
        FM_DEVICE_NOT_FOUND
        FM_ALLOCATION_FAILED
        FM_INVALID_ARGUMENT
        FM_INVALID_STATE
        FM_COMPILATION_FAILED
        FM_COMMAND_FAILED
        FM_TIMED_OUT
        FM_UNSUPPORTED
        FM_IO_FAILED

    ctypedef struct fm_error:
        fm_status status
        int64_t code
        char domain[64]
        char *message

    ctypedef struct fm_device
    ctypedef struct fm_device_options:
        const char *engine
        uint32_t threads
        uint32_t max_threads
        bint no_tensor_api
        const char *order
        uint64_t seed
        const char *checks
        double timeout

    ctypedef struct fm_device_info:
        uint64_t registry_id
        uint64_t max_buffer_length
        uint64_t max_threadgroup_memory
        uint64_t max_threads_per_threadgroup
        uint64_t page_size
        uint32_t language_version
        uint32_t threads
        bint unified_memory
        bint is_host
        char engine[16]
        char name[128]

    ctypedef struct fm_buffer
    ctypedef void (*fm_release_fn)(void *memory, size_t length, void *context) noexcept nogil

    ctypedef struct fm_library
    ctypedef enum fm_math_mode:
        FM_MATH_SAFE
        FM_MATH_RELAXED
        FM_MATH_FAST

    ctypedef struct fm_macro:
        const char *name
        const char *value

    ctypedef struct fm_compile_options:
        uint32_t language_version
        fm_math_mode math_mode
        const fm_macro *macros
        size_t macro_count

    ctypedef struct fm_pipeline
    ctypedef enum fm_constant_type:
        FM_CONSTANT_BOOL

    ctypedef struct fm_constant:
        uint32_t index
        fm_constant_type type
        uint32_t components
        const void *value

    ctypedef struct fm_pipeline_info:
        uint32_t max_threads
        uint32_t simd_width
        uint32_t static_threadgroup_memory
        uint32_t declared
        uint32_t used
        uint32_t writable
        uint32_t threadgroup_declared
        uint32_t alignment[31]
        uint32_t size[31]
        const char *name[31]

    ctypedef struct fm_wakeup

    ctypedef struct fm_encoder
    ctypedef enum fm_encoder_state:
        FM_ENCODER_OPEN
        FM_ENCODER_COMMITTED
        FM_ENCODER_COMPLETED
        FM_ENCODER_FAILED

    ctypedef struct fm_argument:
        uint32_t index
        fm_buffer *buffer
        size_t offset
        const void *bytes
        size_t length

    ctypedef struct fm_threadgroup_memory:
        uint32_t index
        uint32_t length

    ctypedef struct fm_dispatch:
        fm_pipeline *pipeline
        const fm_argument *arguments
        size_t argument_count
        const fm_threadgroup_memory *threadgroup_memory
        size_t threadgroup_memory_count
        uint64_t grid[3]
        uint64_t threads_per_threadgroup[3]
        bint exact_threads


# Turns a status into the exception of flashmetal.errors, frees the error's text, takes the GIL for
# that alone. `name` is the kernel or file that a compile error names; it may be NULL.
cdef int check(fm_status status, fm_error *error, const char *name) except -1 nogil
# For a failure that the caller reports in its own words.
cdef void error_clear(fm_error *error) noexcept nogil
# Whether the process was forked after the first device was made; check_not_forked raises
# InvalidState then.
cdef bint is_forked() noexcept nogil
cdef int check_not_forked() except -1

cdef fm_status device_create(const fm_device_options *options, fm_device **out,
                             fm_error *error) noexcept nogil
cdef void device_get_info(const fm_device *device, fm_device_info *out) noexcept nogil
cdef void device_release(fm_device *device) noexcept nogil
cdef const void *host_control() noexcept nogil

cdef fm_status buffer_create(fm_device *device, size_t length, fm_buffer **out,
                             fm_error *error) noexcept nogil
cdef fm_status buffer_wrap(fm_device *device, void *memory, size_t length, fm_release_fn release,
                           void *context, fm_buffer **out, fm_error *error) noexcept nogil
cdef void buffer_limit(fm_buffer *buffer, size_t end) noexcept nogil
cdef void *buffer_contents(const fm_buffer *buffer) noexcept nogil
cdef size_t buffer_length(const fm_buffer *buffer) noexcept nogil
cdef fm_status buffer_track(fm_buffer *buffer, fm_error *error) noexcept nogil
cdef void buffer_track_with(fm_buffer *buffer, const fm_buffer *other) noexcept nogil
cdef bint buffer_is_busy(const fm_buffer *buffer) noexcept nogil
cdef void buffer_release(fm_buffer *buffer) noexcept nogil

cdef fm_status library_compile(fm_device *device, const char *source, size_t length,
                               const fm_compile_options *options, fm_library **out,
                               fm_error *error) noexcept nogil
cdef fm_status library_open(fm_device *device, const char *path, fm_library **out,
                            fm_error *error) noexcept nogil
cdef char *library_copy_names(const fm_library *library) noexcept nogil
cdef char *library_copy_constants(const fm_library *library, const char *function) noexcept nogil
cdef void library_release(fm_library *library) noexcept nogil

cdef fm_status pipeline_create(fm_device *device, fm_library *library, const char *function,
                               const fm_constant *constants, size_t constant_count,
                               fm_pipeline **out, fm_error *error) noexcept nogil
cdef const fm_pipeline_info *pipeline_get_info(const fm_pipeline *pipeline) noexcept nogil
cdef void pipeline_release(fm_pipeline *pipeline) noexcept nogil

cdef fm_status wakeup_create(fm_wakeup **out, fm_error *error) noexcept nogil
cdef int wakeup_descriptor(const fm_wakeup *wakeup) noexcept nogil
cdef void wakeup_clear(fm_wakeup *wakeup) noexcept nogil
cdef void wakeup_release(fm_wakeup *wakeup) noexcept nogil

cdef fm_status encoder_create(fm_device *device, fm_encoder **out, fm_error *error) noexcept nogil
cdef fm_status encoder_begin(fm_encoder *encoder, const char *label, int64_t timeout_ns,
                             fm_error *error) noexcept nogil
cdef bint encoder_has_begun(const fm_encoder *encoder) noexcept nogil
cdef fm_status encoder_dispatch(fm_encoder *encoder, const fm_dispatch *dispatch,
                                fm_error *error) noexcept nogil
cdef fm_status encoder_barrier(fm_encoder *encoder, fm_error *error) noexcept nogil
cdef fm_status encoder_commit(fm_encoder *encoder, fm_error *error) noexcept nogil
cdef fm_status encoder_wait(fm_encoder *encoder, int64_t timeout_ns,
                            fm_error *error) noexcept nogil
cdef fm_status encoder_spin(fm_encoder *encoder, int64_t timeout_ns,
                            fm_error *error) noexcept nogil
cdef fm_status encoder_notify(fm_encoder *encoder, fm_wakeup *wakeup,
                              fm_error *error) noexcept nogil
cdef fm_encoder_state encoder_get_state(const fm_encoder *encoder) noexcept nogil
cdef void encoder_get_gpu_time(const fm_encoder *encoder, double *start,
                               double *end) noexcept nogil
cdef void encoder_release(fm_encoder *encoder) noexcept nogil
