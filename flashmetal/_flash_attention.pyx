"""Decode attention: the host contract of its kernels, checked in C."""

from libc.stdint cimport INT64_MAX, uint32_t, uint64_t
from libc.string cimport memcpy

from flashmetal._argument cimport need
from flashmetal._buffer cimport F16, F32, Buffer
from flashmetal._checks cimport (
    check_alignment, check_disjoint, check_output, check_threads, span_elems,
)
from flashmetal._device cimport Device
from flashmetal._dispatch cimport (
    Launch, add_buffer, add_bytes, clear_launch, close_launch, open_rows,
)
from flashmetal._encoder cimport CommandEncoder, need_encoder
from flashmetal._integer cimport to_integer
from flashmetal._params cimport (
    HEAD_DIM, KV_DIM, N_HEADS, N_KV_HEADS, SEQ_LEN, WORDS, FlashAttentionParams,
)
from flashmetal._pipeline cimport Pipeline
from flashmetal._registry cimport KernelRegistry

from flashmetal.errors import InvalidArgument

__all__ = ["encode_attention", "encode_attention_q_offset", "kernel_name", "supports_head_dim"]

cdef str OP = "flash_attention"

cdef enum:
    LARGEST_HEAD_DIM = 128
    HEAD_DIM_UNIT = 4  # the kernel reads a cache row four elements at a time
    THREADS = 256
    # What loads and stores need of the bound offsets, in bytes.
    ALIGNMENT_OF_TOKENS = 4
    ALIGNMENT_OF_CACHES = 8

MAX_HEAD_DIM = LARGEST_HEAD_DIM

# The general kernel, and those with head_dim as a compile-time constant.
KERNELS = ("flash_attention", "flash_attention_hd64", "flash_attention_hd128")
cdef str GENERAL, HEAD_DIM_64, HEAD_DIM_128
GENERAL, HEAD_DIM_64, HEAD_DIM_128 = KERNELS


def kernel_name(head_dim):
    """Return the name of the kernel that serves a head_dim."""
    return name_of_kernel(to_integer(head_dim, 0, INT64_MAX, "kernel_name", "head_dim"))


def supports_head_dim(head_dim):
    """Whether a kernel serves a head_dim."""
    return is_served(to_integer(head_dim, 0, INT64_MAX, "supports_head_dim", "head_dim"))


def encode_attention(encoder, registry, q, k_cache, v_cache, out, params):
    """Encode attention of one query token over the first seq_len rows of a K/V cache.

    Parameters
    ----------
    encoder
        Takes the dispatch.
    registry
        Has the kernels: see `register`. Others with the same names, bindings and parameter struct
        take their place.
    q
        f32 ``[n_heads, head_dim]``.
    k_cache, v_cache
        f16 ``[≥ seq_len, n_kv_heads, head_dim]``.
    out
        f32 ``[n_heads, head_dim]``, written; zeros when seq_len is 0.
    params
        The shapes and the scale; copied at once.

    Raises
    ------
    InvalidArgument
        When shapes, dtypes, sizes, offsets or devices do not fit; nothing is encoded then.
    KernelNotFound
        When the registry has no kernel of the name.
    ShaderCompilationError
        When it does not compile.
    InvalidState
        When a buffer is released, or the encoder is committed, discarded or in use by another
        thread.
    """
    encode("encode_attention", encoder, registry, q, k_cache, v_cache, out, params, 0, 0)


def encode_attention_q_offset(encoder, registry, q, k_cache, v_cache, out, params, q_off_bytes,
                              out_off_bytes):
    """Encode attention as `encode_attention` does, of a query token inside larger buffers.

    Parameters
    ----------
    q_off_bytes, out_off_bytes
        Where the token starts in `q` and `out`, on top of their own offsets; multiples of 4.
    """
    cdef size_t q_offset = to_integer(q_off_bytes, 0, INT64_MAX, OP, "q_off_bytes")
    cdef size_t out_offset = to_integer(out_off_bytes, 0, INT64_MAX, OP, "out_off_bytes")
    encode("encode_attention_q_offset", encoder, registry, q, k_cache, v_cache, out, params,
           q_offset, out_offset)


cdef int encode(str function, object encoder, object registry, object q, object k_cache,
                object v_cache, object out, object params, size_t q_offset,
                size_t out_offset) except -1:
    need_encoder(encoder, OP)
    if type(registry) is not KernelRegistry:
        need(registry, KernelRegistry, OP, "registry")
    return encode_on(function, <CommandEncoder>encoder, <KernelRegistry>registry, q, k_cache,
                     v_cache, out, params, q_offset, out_offset)


cdef int encode_on(str function, CommandEncoder encoder, KernelRegistry registry, object q,
                   object k_cache, object v_cache, object out, object params, size_t q_offset,
                   size_t out_offset) except -1:
    cdef uint32_t words[WORDS]
    cdef DecodeSpans spans
    cdef Launch launch
    if type(params) is not FlashAttentionParams:
        need(params, FlashAttentionParams, OP, "params")
    # A copy: while the encoder waits for a command buffer, another thread may set seq_len.
    memcpy(words, (<FlashAttentionParams>params).words, sizeof(words))
    check_shape(function, words)
    check_buffers(&spans, q, k_cache, v_cache, out, words, q_offset, out_offset)
    pipeline = find_kernel(registry, encoder.device, words[HEAD_DIM])
    encoder.enter()
    try:
        fill_decode(&launch, encoder.device, pipeline, q, k_cache, v_cache, out, &spans, words)
        encoder.encode(&launch.dispatch)
    finally:
        clear_launch(&launch)
        encoder.leave()
    return 0


cdef bint is_served(uint64_t head_dim) noexcept:
    return head_dim <= LARGEST_HEAD_DIM and head_dim % HEAD_DIM_UNIT == 0


cdef str name_of_kernel(uint64_t head_dim):
    if head_dim == 64:
        return HEAD_DIM_64
    if head_dim == 128:
        return HEAD_DIM_128
    return GENERAL


cdef int check_shape(str function, const uint32_t *words) except -1:
    if not is_served(words[HEAD_DIM]):
        raise InvalidArgument(
            f"{OP}: {function} requires head_dim ≤ {MAX_HEAD_DIM} and divisible by "
            f"{HEAD_DIM_UNIT}, got {words[HEAD_DIM]}"
        )
    if not (words[N_HEADS] and words[N_KV_HEADS] and words[HEAD_DIM]):
        raise InvalidArgument(f"{OP}: empty shape {params_of(words)}")
    if words[N_HEADS] % words[N_KV_HEADS]:
        raise InvalidArgument(
            f"{OP}: n_heads {words[N_HEADS]} is not a multiple of n_kv_heads {words[N_KV_HEADS]}"
        )
    return 0


cdef FlashAttentionParams params_of(const uint32_t *words):
    cdef FlashAttentionParams params = FlashAttentionParams.__new__(FlashAttentionParams)
    memcpy(params.words, words, sizeof(params.words))
    return params


cdef int check_buffers(DecodeSpans *spans, object q, object k_cache, object v_cache, object out,
                       const uint32_t *words, size_t q_offset, size_t out_offset) except -1:
    cdef uint64_t token = <uint64_t>words[N_HEADS] * words[HEAD_DIM]
    cdef uint64_t cache = <uint64_t>words[SEQ_LEN] * words[KV_DIM]
    span_elems(&spans.q, OP, "q", q, F32, token, q_offset)
    span_elems(&spans.k_cache, OP, "k_cache", k_cache, F16, cache, 0)
    span_elems(&spans.v_cache, OP, "v_cache", v_cache, F16, cache, 0)
    span_elems(&spans.out, OP, "out", out, F32, token, out_offset)
    check_alignment(OP, "q", &spans.q, ALIGNMENT_OF_TOKENS)
    check_alignment(OP, "k_cache", &spans.k_cache, ALIGNMENT_OF_CACHES)
    check_alignment(OP, "v_cache", &spans.v_cache, ALIGNMENT_OF_CACHES)
    check_alignment(OP, "out", &spans.out, ALIGNMENT_OF_TOKENS)
    check_disjoint(OP, "out", &spans.out, "q", &spans.q)
    check_disjoint(OP, "out", &spans.out, "k_cache", &spans.k_cache)
    check_disjoint(OP, "out", &spans.out, "v_cache", &spans.v_cache)
    return check_output(OP, "out", out)


cdef Pipeline find_kernel(KernelRegistry registry, Device device, uint32_t head_dim):
    registry.check_device(device)
    cdef Pipeline pipeline = registry.find_pipeline(name_of_kernel(head_dim))
    check_threads(OP, pipeline, THREADS)
    return pipeline


cdef int fill_decode(Launch *launch, Device device, Pipeline pipeline, object q, object k_cache,
                     object v_cache, object out, const DecodeSpans *spans,
                     const uint32_t *words) except -1:
    open_rows(launch, device, pipeline, words[N_HEADS], THREADS)
    add_buffer(launch, device, pipeline, Q, <Buffer>q, spans.q.bound)
    add_buffer(launch, device, pipeline, K_CACHE, <Buffer>k_cache, spans.k_cache.bound)
    add_buffer(launch, device, pipeline, V_CACHE, <Buffer>v_cache, spans.v_cache.bound)
    add_buffer(launch, device, pipeline, OUT, <Buffer>out, spans.out.bound)
    add_bytes(launch, pipeline, PARAMS, words, WORDS * sizeof(uint32_t))
    return close_launch(launch, pipeline)
