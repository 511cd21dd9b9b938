from libc.stdint cimport uint32_t, uint64_t

from flashmetal._bridge cimport fm_dispatch
from flashmetal._decode_plan cimport DecodeWindow
from flashmetal._encoder cimport CommandEncoder


cdef struct StepEntry:
    const fm_dispatch *dispatch           # of a plan; NULL: a barrier
    const DecodeWindow *window            # of a DecodePlan, or NULL


cdef class DecodeStep:
    cdef StepEntry *steps                 # owned
    cdef size_t count
    cdef readonly tuple entries           # as given; kept alive
    cdef readonly uint32_t capacity       # rows that the caches of all its plans have
    cdef size_t releases                  # release_count when their buffers were looked at last
    cdef uint64_t registry_id             # of the device

    # As `encode`, for programs that hold no GIL.
    cdef int encode_at(self, CommandEncoder encoder, uint32_t seq_len,
                       uint32_t start) except -1 nogil
    cdef int check(self, CommandEncoder encoder) except -1 nogil
