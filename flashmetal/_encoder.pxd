from libc.stdint cimport int64_t, uint64_t

from flashmetal._argument cimport need
from flashmetal._bridge cimport (
    FM_OK, encoder_barrier, encoder_dispatch, encoder_has_begun, fm_dispatch, fm_encoder,
)
from flashmetal._device cimport Device


cdef class CommandEncoder:
    cdef fm_encoder *handle               # owned; NULL when discarded
    cdef readonly Device device           # kept alive
    cdef uint64_t registry_id             # the device's
    cdef bytes label_bytes                # UTF-8, or None
    cdef const char *label_text           # inside label_bytes, or NULL
    cdef bint busy                        # a thread is encoding or committing
    cdef readonly long long dispatch_count
    cdef readonly long long barrier_count
    cdef object __weakref__

    # What a program that holds no GIL calls, one thread at a time. Errors are those of the methods
    # that Python sees: memory_barrier, commit, and wait, whose timeout is in nanoseconds here.
    cdef int order(self) except -1 nogil
    cdef int submit(self) except -1 nogil
    cdef int wait_ns(self, int64_t duration) except -1 nogil

    # Around everything that encodes or commits: refuses a second thread, and use after the end.
    cdef int enter(self) except -1 nogil
    cdef void leave(self) noexcept nogil
    # Between enter and leave, what the caller has checked. May wait for a command buffer, without
    # the GIL.
    cdef int encode(self, const fm_dispatch *dispatch) except -1 nogil

    # Whether `record` will do.
    cdef bint is_recording(self) noexcept nogil
    # Makes that so, or raises. May wait without the GIL: other threads may have changed things.
    cdef int open(self) except -1 nogil


# Raises InvalidType, naming the function, unless it may be cast to a CommandEncoder.
cdef inline int need_encoder(object encoder, str subject) except -1:
    if type(encoder) is not CommandEncoder:
        return need(encoder, CommandEncoder, subject, "encoder")
    return 0


# `encode` and `order` outside of enter and leave, at once or not at all: False unless a command
# buffer is there and nobody in between.
cdef inline bint record(CommandEncoder encoder, const fm_dispatch *dispatch) noexcept nogil:
    if encoder.handle is NULL or encoder.busy:
        return False
    return record_next(encoder, dispatch)


# The same between two things that were recorded at once, or after is_recording.
cdef inline bint record_next(CommandEncoder encoder, const fm_dispatch *dispatch) noexcept nogil:
    if encoder_dispatch(encoder.handle, dispatch, NULL) != FM_OK:
        return False
    encoder.dispatch_count += 1
    return True


cdef inline bint record_barrier(CommandEncoder encoder) noexcept nogil:
    if encoder.handle is NULL or encoder.busy or not encoder_has_begun(encoder.handle):
        return False
    if encoder_barrier(encoder.handle, NULL) != FM_OK:
        return False
    encoder.barrier_count += 1
    return True
