from libc.stdint cimport uint32_t


cdef class FlashAttnPrefillTensorParams:
    # The twelve words of the kernel's struct, in its order.
    cdef uint32_t words[12]
    # Not among them: it selects the kernel.
    cdef readonly uint32_t head_dim

    cdef int check_i32(self) except -1
