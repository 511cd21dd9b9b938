"""Waiting, in slices between which Ctrl-C is seen: for committed work, and for a command buffer."""

from cpython.exc cimport PyErr_CheckSignals
from cpython.pystate cimport PyThreadState
from libc.stdint cimport INT64_MAX, int64_t
from posix.time cimport CLOCK_MONOTONIC, clock_gettime, timespec

from flashmetal._bridge cimport (
    FM_ENCODER_COMMITTED, FM_TIMED_OUT, check, encoder_begin, encoder_get_state, encoder_spin,
    encoder_wait, error_clear, fm_encoder, fm_error,
)

from flashmetal.errors import InvalidArgument, InvalidType, WaitTimeout

__all__ = []


cdef extern from "Python.h" nogil:
    bint PyGILState_Check()
    PyThreadState *PyEval_SaveThread()
    void PyEval_RestoreThread(PyThreadState *state)


cdef enum:
    # A wait looks for Ctrl-C this often.
    SLICE_NS = 20_000_000
    # About what it takes to fall asleep and to be woken: longer than that, sleeping is cheaper.
    SPIN_NS = 20_000
    SECOND_NS = 1_000_000_000

# Half the range, so that a clock's reading can be added.
cdef int64_t FOR_EVER = INT64_MAX // 2


cdef WaitMode wait_mode(object mode, str caller) except *:
    # An array would compare itself element by element.
    if isinstance(mode, str):
        if mode == "auto":
            return AUTO
        if mode == "block":
            return BLOCK
        if mode == "spin":
            return SPIN
    raise InvalidArgument(f'{caller}: mode must be "block", "spin" or "auto", got {mode!r}')


cdef int64_t timeout_ns(object timeout, str caller) except -1:
    cdef double seconds = -1
    cdef type error = InvalidArgument
    if timeout is None:
        return FOR_EVER
    try:
        seconds = timeout
    except TypeError:
        error = InvalidType
    except OverflowError:
        pass
    # Written so that NaN fails it, too.
    if not seconds >= 0:
        raise error(f"{caller}: timeout must be None or seconds from 0 on, got {timeout!r}")
    return min(FOR_EVER, <int64_t>min(seconds * SECOND_NS, <double>FOR_EVER))


cdef Patience patience(int64_t duration=FOR_EVER) noexcept nogil:
    return Patience(duration, monotonic_ns() + duration)


cdef int wait_for_end(fm_encoder *encoder, const Patience *limit, WaitMode mode) except -1 nogil:
    cdef int64_t left
    if mode == AUTO:
        encoder_spin(encoder, min(limit.duration, SPIN_NS), NULL)
    while encoder_get_state(encoder) == FM_ENCODER_COMMITTED:
        left = limit.deadline - monotonic_ns()
        check_signals(left, limit.duration)
        if mode == SPIN:
            encoder_spin(encoder, min(left, SLICE_NS), NULL)
        else:
            encoder_wait(encoder, min(left, SLICE_NS), NULL)
    return 0


cdef int wait_for_room(fm_encoder *encoder, const char *label,
                       const Patience *limit) except -1 nogil:
    cdef fm_error error
    cdef int64_t left
    cdef PyThreadState *state
    error.message = NULL
    # Nearly always there is room at once.
    status = encoder_begin(encoder, label, 0, &error)
    while status == FM_TIMED_OUT:
        error_clear(&error)
        left = limit.deadline - monotonic_ns()
        check_signals(left, limit.duration)
        state = PyEval_SaveThread() if PyGILState_Check() else NULL
        status = encoder_begin(encoder, label, min(left, SLICE_NS), &error)
        if state is not NULL:
            PyEval_RestoreThread(state)
    return check(status, &error, label)


cdef int check_signals(int64_t left, int64_t duration) except -1 with gil:
    PyErr_CheckSignals()
    if left <= 0:
        raise WaitTimeout(duration / <double>SECOND_NS)
    return 0


cdef int64_t monotonic_ns() noexcept nogil:
    cdef timespec now
    clock_gettime(CLOCK_MONOTONIC, &now)
    return now.tv_sec * <int64_t>SECOND_NS + now.tv_nsec
