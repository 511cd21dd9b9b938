from libc.stdint cimport uint32_t, uint64_t, uintptr_t

from flashmetal._buffer cimport Buffer, DTypeCode
from flashmetal._pipeline cimport Pipeline


# The bytes of an argument that a kernel touches.
cdef struct Span:
    size_t bound                          # where it is bound, in the allocation
    uintptr_t start                       # addresses of the first byte and past the last; the same
    uintptr_t end                         # when there is none


# Each raises InvalidArgument, naming the operation and the argument. `offset` is at most INT64_MAX,
# `alignment` a power of two.
cdef Buffer to_buffer(str op, str name, object argument)
cdef int span_elems(Span *span, str op, str name, object argument, DTypeCode code, uint64_t count,
                    size_t offset) except -1
cdef int check_alignment(str op, str name, const Span *span, size_t alignment) except -1
cdef int check_disjoint(str op, str out_name, const Span *out, str name,
                        const Span *span) except -1
cdef int check_output(str op, str name, Buffer out) except -1
cdef int check_threads(str op, Pipeline pipeline, uint32_t threads) except -1
