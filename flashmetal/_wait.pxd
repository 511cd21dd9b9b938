from libc.stdint cimport int64_t

from flashmetal._bridge cimport fm_encoder


cdef enum WaitMode:
    BLOCK
    SPIN
    AUTO


# Both name the caller, a method of the encoder, in their errors.
cdef WaitMode wait_mode(object mode, str caller) except *
# Nanoseconds of a timeout in seconds; for ever when it is None.
cdef int64_t timeout_ns(object timeout, str caller) except -1
# Of a clock that nobody sets.
cdef int64_t monotonic_ns() noexcept nogil
# How long a call may wait, in nanoseconds, and when that ends.
cdef struct Patience:
    int64_t duration
    int64_t deadline


# From now on; for ever without a duration.
cdef Patience patience(int64_t duration=*) noexcept nogil
# Until the encoder has begun: while the device has no command buffer left, without the GIL, if the
# caller holds it. Raises WaitTimeout, and whatever a signal handler raises.
cdef int wait_for_room(fm_encoder *encoder, const char *label,
                       const Patience *limit) except -1 nogil
# Until the committed work has ended, however it did. Raises the same.
cdef int wait_for_end(fm_encoder *encoder, const Patience *limit, WaitMode mode) except -1 nogil
