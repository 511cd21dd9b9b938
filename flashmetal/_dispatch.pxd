from cpython.object cimport PyObject

from flashmetal._bridge cimport FM_MAX_BUFFERS, fm_argument, fm_dispatch, fm_threadgroup_memory
from flashmetal._buffer cimport Buffer
from flashmetal._device cimport Device
from flashmetal._pipeline cimport Pipeline


cdef class BufferWithOffset:
    # A place in an allocation, whatever the handle's own offset.
    cdef readonly Buffer buffer           # kept alive
    cdef readonly size_t offset           # in the allocation, less than its length


# A checked dispatch, on the stack of its caller or inside a plan. Zero `view_count` and
# `held_count` before the first fill_launch; clear_launch gives back what it holds.
cdef struct Launch:
    fm_dispatch dispatch                  # points into this struct
    fm_argument arguments[FM_MAX_BUFFERS]
    fm_threadgroup_memory threadgroup_memory[FM_MAX_BUFFERS]
    Py_buffer views[FM_MAX_BUFFERS]       # of bytes arguments
    size_t view_count
    PyObject *held[FM_MAX_BUFFERS]        # owned: allocations that are bound
    size_t held_count


# Raises InvalidArgument, naming the kernel, unless Metal would take the dispatch.
cdef int fill_launch(Launch *launch, Device device, Pipeline pipeline, object args, object grid,
                     object threads_per_threadgroup, object threadgroup_memory,
                     bint exact_threads) except -1
cdef void clear_launch(Launch *launch) noexcept
