from flashmetal._bridge cimport fm_buffer
from flashmetal._device cimport Device


cdef enum DTypeCode:
    F32 = 0
    F16 = 1
    BF16 = 2
    U8 = 3
    U16 = 4
    U32 = 5
    I32 = 6


cdef class Allocation:
    # One MTLBuffer, shared by all handles on it. Takes no weak references: their callbacks would
    # find it among the live allocations when it is already going.
    cdef fm_buffer *handle       # owned; NULL when released
    cdef char *base              # contents of the MTLBuffer; NULL when released
    cdef size_t length           # bytes of the MTLBuffer
    cdef size_t begin            # offset of its first own byte: wrapped pages hold others' data
    cdef size_t end              # offset past its last own byte
    cdef Device device           # kept alive
    cdef bint copied             # a snapshot made by wrap: refused as an output
    cdef Py_ssize_t exports      # arrays and others that point into it: then not released
    cdef void *newer             # neighbours among the live allocations; borrowed
    cdef void *older


cdef class Buffer:
    # A typed window on an allocation.
    cdef Allocation allocation   # kept alive
    cdef size_t offset           # of the first byte, in the allocation
    cdef size_t data_length      # logical bytes of this handle
    cdef DTypeCode dtype_code
    cdef bint is_read_only       # read-only memory or a copy: refused as an output
    cdef tuple dimensions
    cdef object __weakref__


# How often an allocation was released. Who keeps a Metal buffer's handle compares it with the count
# from when it looked last, and looks again when it differs.
cdef size_t release_count

cdef size_t dtype_size(DTypeCode code) noexcept nogil
cdef str dtype_name(DTypeCode code)
cdef DTypeCode dtype_code(object dtype) except *
# The first byte of a buffer that is not released.
cdef inline void *contents(Buffer buffer) noexcept nogil:
    return buffer.allocation.base + buffer.offset


# A new handle on part of an allocation; the caller has checked the bounds.
cdef Buffer new_handle(Allocation allocation, size_t offset, size_t data_length, DTypeCode code,
                       tuple dimensions, bint read_only)
# One without a handle: the caller sets it and then calls finish.
cdef Allocation new_allocation()
# Zero-filled memory of its own for a Python integer of bytes.
cdef Allocation allocate(Device device, object size)
# The newest live allocation of an equal device that owns all of these bytes, or None.
cdef Allocation find_live(Device device, const char *first, size_t size)
# Makes a live allocation of one whose handle is set; begin and end bound its own bytes.
cdef void finish(Allocation allocation, Device device, size_t begin, size_t end) noexcept
# Gives Metal's buffer back, for all handles; InvalidState while the memory is exported.
cdef int release(Allocation allocation) except -1
# Raises InvalidState when it is released; `what` names it.
cdef int require_live(Allocation allocation, str what) except -1
cdef object count_bytes(tuple dimensions, DTypeCode code)
