from libc.stdint cimport uint32_t

from flashmetal._encoder cimport CommandEncoder
from flashmetal._plan cimport Plan, PlanWindow


cdef class DecodePlan(Plan):
    cdef readonly uint32_t capacity       # rows of the caches

    # As `encode`, for programs that hold no GIL.
    cdef int encode_at(self, CommandEncoder encoder, uint32_t seq_len,
                       uint32_t start) except -1 nogil


# Raises InvalidArgument unless the rows are in the caches.
cdef int check_rows(uint32_t seq_len, uint32_t start, uint32_t capacity) except -1 nogil


cdef inline void slide(const PlanWindow *window, uint32_t seq_len,
                       uint32_t start) noexcept nogil:
    # Where no row is read, the offset could be past the end, which Metal does not bind.
    cdef size_t skipped = start * window.row_bytes if seq_len else 0
    window.seq_len[0] = seq_len
    window.k_cache.offset = window.k_offset + skipped
    window.v_cache.offset = window.v_offset + skipped
