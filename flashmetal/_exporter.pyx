"""Memory of Python objects that Metal uses in place, and its way back.

The object's memory is let go only once Metal's buffer is gone: when the last handle is dropped and
the last command buffer that uses it has completed. Metal says so on a thread of its own, which must
not wait for the GIL, so the memory goes on a list that is drained by the next call of the library
and by a pending call of the interpreter.
"""

import atexit

from cpython.buffer cimport PyBUF_RECORDS_RO, PyBuffer_Release
from cpython.mem cimport PyMem_RawFree, PyMem_RawMalloc

from flashmetal._bridge cimport buffer_release, fm_buffer

__all__ = []


cdef extern from "Python.h":
    # Without a check of the result, which Cython's own declaration has.
    int PyObject_GetBuffer(object exporter, Py_buffer *view, int flags)
    void *PyErr_NoMemory()


cdef extern from "release_list.h":
    ctypedef struct release_list:
        pass
    ctypedef int (*pending_call)(void *) noexcept
    held_memory **release_list_collector
    bint release_list_collect(held_memory *held) nogil
    bint release_list_push(release_list *list, held_memory *held) nogil
    held_memory *release_list_take(release_list *list) nogil
    void release_list_schedule(release_list *list, pending_call drain) nogil
    void release_list_close(release_list *list) nogil


cdef enum:
    SPARE_COUNT = 32       # records kept for the next ones
    SMALL_BYTES = 1 << 20

cdef release_list done
cdef held_memory *spare = NULL
cdef int spare_count = 0


cdef held_memory *new_held() noexcept:
    global spare, spare_count
    cdef held_memory *held = spare
    if held != NULL:
        spare = held.next
        spare_count -= 1
        return held
    held = <held_memory *>PyMem_RawMalloc(sizeof(held_memory))
    if held == NULL:
        PyErr_NoMemory()
    return held


cdef void give_record(held_memory *held) noexcept:
    global spare, spare_count
    if spare_count == SPARE_COUNT:
        PyMem_RawFree(held)
        return
    held.next = spare
    spare = held
    spare_count += 1


cdef held_memory *hold(object exporter) noexcept:
    cdef held_memory *held = new_held()
    if held == NULL:
        return NULL
    held.release = release_view
    if PyObject_GetBuffer(exporter, &held.view, PyBUF_RECORDS_RO) == 0:
        return held
    give_record(held)
    return NULL


cdef void release_view(held_memory *held) noexcept:
    PyBuffer_Release(&held.view)


cdef void let_go(held_memory *held) noexcept:
    held.release(held)
    give_record(held)


cdef void drain() noexcept:
    let_go_all(release_list_take(&done))


cdef void let_go_all(held_memory *held) noexcept:
    cdef held_memory *following
    while held != NULL:
        following = held.next
        let_go(held)
        held = following


cdef int drain_pending(void *unused) noexcept:
    drain()
    return 0


cdef void release_later(void *memory, size_t length, void *context) noexcept nogil:
    if release_list_collect(<held_memory *>context):
        return
    if release_list_push(&done, <held_memory *>context):
        release_list_schedule(&done, drain_pending)


cdef void release_buffer(fm_buffer *handle, size_t length) noexcept:
    global release_list_collector
    cdef held_memory *released = NULL
    release_list_collector = &released
    if is_small(length):
        buffer_release(handle)
    else:
        with nogil:
            buffer_release(handle)
    release_list_collector = NULL
    let_go_all(released)


cdef bint is_small(size_t length) noexcept nogil:
    return length < SMALL_BYTES


def close():
    """Schedule nothing more in an interpreter that is about to end."""
    release_list_close(&done)


atexit.register(close)
