from libc.stdint cimport uint32_t

from flashmetal._checks cimport Span
from flashmetal._device cimport Device
from flashmetal._dispatch cimport Launch
from flashmetal._pipeline cimport Pipeline
from flashmetal._registry cimport KernelRegistry


# Argument indices of the kernels.
cdef enum:
    Q = 0
    K_CACHE = 1
    V_CACHE = 2
    OUT = 3
    PARAMS = 4


# What one dispatch touches, checked.
cdef struct DecodeSpans:
    Span q
    Span k_cache
    Span v_cache
    Span out


# The host contract's checks, in its order: of the shape, of the buffers, of the pipeline; then
# those of any dispatch. `words` are those of the parameter struct, the caller's own copy. The
# launch is given back with clear_launch.
cdef int check_shape(str function, const uint32_t *words) except -1
cdef int check_buffers(DecodeSpans *spans, object q, object k_cache, object v_cache, object out,
                       const uint32_t *words, size_t q_offset, size_t out_offset) except -1
cdef Pipeline find_kernel(KernelRegistry registry, Device device, uint32_t head_dim)
cdef int fill_decode(Launch *launch, Device device, Pipeline pipeline, object q, object k_cache,
                     object v_cache, object out, const DecodeSpans *spans,
                     const uint32_t *words) except -1
