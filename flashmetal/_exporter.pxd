from cpython.buffer cimport Py_buffer


cdef extern from "release_list.h" nogil:
    ctypedef struct held_buffer:
        Py_buffer view
        held_buffer *next


cdef class Export:
    # A Python object's memory, held until Metal takes it over or this object goes.
    cdef held_buffer *held       # owned; NULL once Metal has it


# Lets go of exported memory that Metal is done with: on entry to the library and after a wait. One
# atomic load when there is nothing to do.
cdef void drain() noexcept
# Metal's deallocator of wrapped memory: `context` is the held_buffer. Never takes the GIL.
cdef void release_later(void *memory, size_t length, void *context) noexcept nogil
