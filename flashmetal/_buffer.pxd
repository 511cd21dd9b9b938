from flashmetal._bridge cimport fm_buffer
from flashmetal._device cimport Device
from flashmetal._live cimport LiveRange


cdef enum:
    NEAR_AXES = 4                # whose extents lie in the handle itself


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
    cdef LiveRange own           # its own bytes: wrapped pages hold others' data
    cdef Device device           # kept alive
    cdef bint copied             # a snapshot made by wrap: refused as an output
    cdef Py_ssize_t exports      # arrays and others that point into it: then not released


cdef class Buffer:
    # A typed window on an allocation.
    cdef Allocation allocation   # kept alive
    cdef size_t offset           # of the first byte, in the allocation
    cdef size_t data_length      # logical bytes of this handle
    cdef DTypeCode dtype_code
    cdef bint is_read_only       # read-only memory or a copy: refused as an output
    cdef int axis_count
    cdef Py_ssize_t *extents     # shape, then C-contiguous strides: in `near`, or else in `far`
    cdef Py_ssize_t[2 * NEAR_AXES] near
    cdef bytes far
    cdef object __weakref__


# How often an allocation was released. Who keeps a Metal buffer's handle compares it with the count
# from when it looked last, and looks again when it differs.
cdef size_t release_count

cdef size_t dtype_size(DTypeCode code) noexcept nogil
cdef str dtype_name(DTypeCode code)
cdef DTypeCode dtype_code(object dtype) except *
# The element type of a format of the buffer protocol, if it is one letter; -1 for all others.
cdef int code_of_letter(const char *format, Py_ssize_t itemsize) noexcept
# The first byte of a buffer that is not released.
cdef inline void *contents(Buffer buffer) noexcept nogil:
    return buffer.allocation.base + buffer.offset

# A new handle on part of an allocation; the caller has checked the bounds.
cdef Buffer new_handle(Allocation allocation, size_t offset, size_t data_length, DTypeCode code,
                       const Py_ssize_t *shape, int axis_count, bint read_only)
# One without a handle: the caller sets it and then calls finish.
cdef Allocation new_allocation()
# Zero-filled memory of its own for a Python integer of bytes.
cdef Allocation allocate(Device device, object size)
# Makes a live allocation of one whose handle is set; begin and end bound its own bytes.
cdef void finish(Allocation allocation, Device device, size_t begin, size_t end) noexcept
# Gives Metal's buffer back, for all handles; InvalidState while the memory is exported.
cdef int release(Allocation allocation) except -1
# Raises InvalidState when it is released; `what` names it.
cdef int require_live(Allocation allocation, str what) except -1
