from libc.stdint cimport uint32_t, uint64_t

from flashmetal._encoder cimport CommandEncoder
from flashmetal._plan cimport PlanBlock


cdef class DecodeStep:
    cdef PlanBlock **blocks               # owned, the plans' blocks are theirs; NULL: a barrier
    cdef size_t count
    cdef readonly tuple entries           # as given; kept alive
    cdef readonly uint32_t capacity       # rows that the caches of all its plans have
    cdef size_t releases                  # release_count when their buffers were looked at last
    cdef uint64_t registry_id             # of the device

    # As `encode`, for programs that hold no GIL.
    cdef int encode_at(self, CommandEncoder encoder, uint32_t seq_len,
                       uint32_t start) except -1 nogil
    cdef int check(self, CommandEncoder encoder) except -1 nogil
