from cpython.object cimport PyObject
from libc.stdint cimport uint32_t, uint64_t

from flashmetal._bridge cimport FM_MAX_BUFFERS, fm_argument, fm_dispatch, fm_threadgroup_memory
from flashmetal._buffer cimport Buffer
from flashmetal._device cimport Device
from flashmetal._pipeline cimport Pipeline


cdef class BufferWithOffset:
    # A place in an allocation, whatever the handle's own offset.
    cdef readonly Buffer buffer           # kept alive
    cdef readonly size_t offset           # in the allocation, less than its length


# A dispatch that is being checked, on the stack of its caller. Once fill_launch or open_rows was
# called, clear_launch gives back what it holds, whatever came of the check.
cdef struct Launch:
    fm_dispatch dispatch                  # points into this struct
    fm_argument arguments[FM_MAX_BUFFERS]
    fm_threadgroup_memory threadgroup_memory[FM_MAX_BUFFERS]
    uint32_t given                        # bit i: argument i is there
    Py_buffer views[FM_MAX_BUFFERS]       # of bytes arguments
    size_t view_count
    PyObject *held[FM_MAX_BUFFERS]        # owned: allocations that are bound
    size_t held_count


# Raises InvalidArgument, naming the kernel, unless Metal would take the dispatch.
cdef int fill_launch(Launch *launch, Device device, Pipeline pipeline, object args, object grid,
                     object threads_per_threadgroup, object threadgroup_memory,
                     bint exact_threads) except -1
cdef void clear_launch(Launch *launch) noexcept

# The same from C: open_rows, then an add_... for each argument, then close_launch. The grid has one
# dimension, the kernel no [[threadgroup(i)]] arguments; `offset` counts in the allocation.
cdef int open_rows(Launch *launch, Device device, Pipeline pipeline, uint64_t threadgroups,
                   uint64_t threads) except -1
cdef int add_buffer(Launch *launch, Device device, Pipeline pipeline, uint32_t index,
                    Buffer buffer, size_t offset) except -1
cdef int add_bytes(Launch *launch, Pipeline pipeline, uint32_t index, const void *memory,
                   size_t length) except -1
cdef int close_launch(Launch *launch, Pipeline pipeline) except -1

# Raises InvalidArgument if `size` bytes, which are all that is `given` of it, are fewer than the
# type of an argument that the kernel uses has.
cdef inline int check_size(Pipeline pipeline, uint32_t index, size_t size, str given,
                           str advice) except -1:
    if size < pipeline.info.size[index]:
        return refuse_size(pipeline, index, size, given, advice)
    return 0


cdef int refuse_size(Pipeline pipeline, uint32_t index, size_t size, str given,
                     str advice) except -1

# Raises InvalidArgument unless `other`, the device of `what`, equals the encoder's.
cdef int check_same_device(Device device, Device other, str kernel, str what) except -1
