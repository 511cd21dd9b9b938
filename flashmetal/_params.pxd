from libc.stdint cimport uint32_t


cdef class FlashAttentionParams:
    # The eight words of the kernel's struct, in its order.
    cdef uint32_t words[8]
