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
    # One MTLBuffer, shared by all handles on it.
    cdef fm_buffer *handle       # owned
    cdef char *base              # contents of the MTLBuffer
    cdef size_t length           # bytes of the MTLBuffer
    cdef Device device           # kept alive
    cdef bint read_only          # wrapped from read-only memory
    cdef bint copied             # made by wrap(copy=...): refused as an output
    cdef object __weakref__


cdef class Buffer:
    # A typed window on an allocation.
    cdef Allocation allocation   # kept alive
    cdef size_t offset           # of the first byte, in the allocation
    cdef size_t data_length      # logical bytes of this handle
    cdef DTypeCode dtype_code
    cdef tuple dimensions
    cdef object __weakref__


cdef size_t dtype_size(DTypeCode code) noexcept nogil
cdef str dtype_name(DTypeCode code)
