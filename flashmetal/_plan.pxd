from libc.stdint cimport uint32_t, uint64_t

from flashmetal._bridge cimport fm_argument, fm_dispatch
from flashmetal._dispatch cimport Launch
from flashmetal._encoder cimport CommandEncoder
from flashmetal._pipeline cimport Pipeline


# What slides from one encode of a DecodePlan to the next.
cdef struct PlanWindow:
    uint32_t *seq_len                     # in the parameter struct; NULL: nothing slides
    fm_argument *k_cache
    fm_argument *v_cache
    size_t k_offset                       # where row 0 of the caches is bound
    size_t v_offset
    size_t row_bytes


# One block of memory, that an encode may touch it from end to end: arguments, threadgroup memory
# and bytes lie behind.
cdef struct PlanBlock:
    fm_dispatch dispatch
    PlanWindow window


cdef class Plan:
    # A checked dispatch with memory of its own. Whoever encodes or patches it holds the GIL, or is
    # the only one to use the plan.
    cdef PlanBlock *block                 # owned
    cdef fm_argument *arguments           # the same as block.dispatch.arguments
    cdef readonly Pipeline pipeline       # kept alive
    cdef list allocations                 # of the buffer arguments, in their order; kept alive
    cdef size_t releases                  # release_count when they were looked at last
    cdef uint64_t registry_id             # of the device

    # Takes over what fill_launch or close_launch has checked.
    cdef int keep(self, Pipeline pipeline, const Launch *launch) except -1
    # Raises unless encoder and buffers are still such that the dispatch may be recorded.
    cdef int check(self, CommandEncoder encoder) except -1 nogil


cdef class LaunchPlan(Plan):
    # As `encode`, for programs that hold no GIL.
    cdef int encode_to(self, CommandEncoder encoder) except -1 nogil
    # The plan's own copy of a bytes argument, to be written between two encodes; NULL unless it has
    # one of this index, and of `end` bytes or more.
    cdef char *find_bytes(self, uint32_t index, size_t end) noexcept nogil
