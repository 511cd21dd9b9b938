from libc.stdint cimport uint32_t


cdef class BlkParams:
    # The four words of the kernel's struct, in its order.
    cdef uint32_t words[4]
    # Not among them: they are the kernel's function constants.
    cdef readonly uint32_t bq
    cdef readonly uint32_t bk

    cdef int check_i32(self) except -1
