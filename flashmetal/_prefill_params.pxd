from libc.stdint cimport uint32_t


cdef class PrefillParams:
    # The twelve words of the kernel's struct, in its order.
    cdef uint32_t words[12]
    cdef readonly uint32_t head_dim
    # The operation, as errors name it.
    cdef str subject
    # Whether the struct has the head_dim, in place of the stride of the mask's rows.
    cdef bint has_head_dim

    cdef int check_i32(self) except -1


cdef class FlashAttnPrefillTensorParams(PrefillParams):
    pass


cdef class FlashAttnPrefillSimdgroupParams(PrefillParams):
    pass
