"""Memory of Python objects that Metal uses in place, and its way back.

The export of the object's memory is released only once Metal's buffer is gone: when the last handle
is dropped and the last command buffer that uses it has completed. Metal says so on a thread of its
own, which must not wait for the GIL, so the export goes on a list that is drained by the next call
of the library and by a pending call of the interpreter.
"""

import atexit

from cpython.buffer cimport PyBUF_RECORDS_RO, PyBuffer_Release, PyObject_GetBuffer
from cpython.mem cimport PyMem_RawFree, PyMem_RawMalloc

__all__ = []


cdef extern from "release_list.h":
    ctypedef struct release_list:
        pass
    ctypedef int (*pending_call)(void *) noexcept
    bint release_list_push(release_list *list, held_buffer *held) nogil
    held_buffer *release_list_take(release_list *list) nogil
    void release_list_schedule(release_list *list, pending_call drain) nogil
    void release_list_close(release_list *list) nogil


cdef release_list done


cdef class Export:
    def __cinit__(self, exporter):
        cdef held_buffer *held = <held_buffer *>PyMem_RawMalloc(sizeof(held_buffer))
        if held == NULL:
            raise MemoryError
        try:
            PyObject_GetBuffer(exporter, &held.view, PyBUF_RECORDS_RO)
        except BaseException:
            PyMem_RawFree(held)
            raise
        self.held = held

    def __dealloc__(self):
        if self.held != NULL:
            release(self.held)


cdef void release(held_buffer *held) noexcept:
    PyBuffer_Release(&held.view)
    PyMem_RawFree(held)


cdef void drain() noexcept:
    cdef held_buffer *held = release_list_take(&done)
    cdef held_buffer *following
    while held != NULL:
        following = held.next
        release(held)
        held = following


cdef int drain_pending(void *unused) noexcept:
    drain()
    return 0


cdef void release_later(void *memory, size_t length, void *context) noexcept nogil:
    if release_list_push(&done, <held_buffer *>context):
        release_list_schedule(&done, drain_pending)


def close():
    """Schedule nothing more in an interpreter that is about to end."""
    release_list_close(&done)


atexit.register(close)
