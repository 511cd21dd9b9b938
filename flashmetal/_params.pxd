from libc.stdint cimport uint32_t


# Where each field is in the kernel's struct; the last two words stay zero.
cdef enum:
    N_HEADS = 0
    N_KV_HEADS = 1
    HEAD_DIM = 2
    KV_DIM = 3
    SEQ_LEN = 4
    SCALE_BITS = 5
    WORDS = 8


cdef class FlashAttentionParams:
    cdef uint32_t words[WORDS]
