from cpython.buffer cimport Py_buffer

from flashmetal._bridge cimport fm_buffer


cdef extern from "release_list.h":
    ctypedef struct held_memory:
        Py_buffer view
        void (*release)(held_memory *) noexcept
        held_memory *next


cdef enum:
    MOST_DIMENSIONS = 64  # of the buffer protocol


# Memory of a Python object, exported by the buffer protocol and held until let_go, or until Metal
# calls release_later. NULL with an error set: callers that have something to do then cost nothing.
cdef held_memory *hold(object exporter) noexcept
# The same for whoever fills the view and the release function.
cdef held_memory *new_held() noexcept
cdef void let_go(held_memory *held) noexcept
# Metal's deallocator of wrapped memory: `context` is the held_memory. Never takes the GIL.
cdef void release_later(void *memory, size_t length, void *context) noexcept nogil
# Lets go of all memory that Metal is done with: on entry to the library and after a wait. One
# atomic load when there is nothing to do.
cdef void drain() noexcept
# Releases Metal's buffer, and lets go of its memory if nothing else uses it.
cdef void release_buffer(fm_buffer *handle, size_t length) noexcept
# Whether Metal is done with memory of this many bytes, made, wrapped or released, sooner than
# another thread with the GIL.
cdef bint is_small(size_t length) noexcept nogil
