# cython: binding=False, embedsignature=True, embedsignature.format=clinic
# Functions of Python's own kind are called faster.
"""DecodePlan: decode attention over fixed buffers, of which only the window of rows changes."""

cimport cython
from libc.stdint cimport UINT32_MAX, uint32_t, uint64_t

from flashmetal._argument cimport need
from flashmetal._buffer cimport Buffer
from flashmetal._device cimport Device
from flashmetal._dispatch cimport Launch, check_size, clear_launch
from flashmetal._encoder cimport CommandEncoder, need_encoder, record
from flashmetal._flash_attention cimport (
    K_CACHE, PARAMS, V_CACHE, DecodeSpans, check_buffers, check_shape, fill_decode, find_kernel,
)
from flashmetal._params cimport HEAD_DIM, KV_DIM, SEQ_LEN, FlashAttentionParams
from flashmetal._plan cimport Plan, PlanWindow
from flashmetal._registry cimport KernelRegistry
from flashmetal._words cimport to_u32

from flashmetal._argument import MISSING
from flashmetal.errors import InvalidArgument

__all__ = ["DecodePlan"]

cdef str OP = "flash_attention"

cdef enum:
    CACHE_ELEMENT = 2  # bytes


@cython.final
cdef class DecodePlan(Plan):
    """Decode attention over fixed buffers, checked once; an encode names the rows to attend to.

    It keeps its pipeline and buffers. One thread at a time may use a plan.

    Parameters
    ----------
    registry
        Has the kernels; its device is the plan's.
    q, k_cache, v_cache, out
        As of `encode_attention`. `out` overlaps no row of the caches.
    n_heads, n_kv_heads, head_dim, scale
        As of `FlashAttentionParams`.

    Attributes
    ----------
    pipeline : Pipeline
        The kernel.
    capacity : int
        Rows of the caches.

    Raises
    ------
    InvalidArgument, InvalidState, KernelNotFound, ShaderCompilationError
        As `encode_attention` does; also when the caches have no whole row.
    """

    def __cinit__(self, registry=MISSING, q=MISSING, k_cache=MISSING, v_cache=MISSING, out=MISSING,
                  *, n_heads=MISSING, n_kv_heads=MISSING, head_dim=MISSING, scale=None):
        need(registry, KernelRegistry, "DecodePlan", "registry")
        cdef Device device = (<KernelRegistry>registry).device
        # A row at least; then all rows, so that no window can touch `out`.
        cdef FlashAttentionParams params = FlashAttentionParams(
            n_heads, n_kv_heads, head_dim, 1, scale
        )
        cdef DecodeSpans spans
        cdef Launch launch
        check_shape("DecodePlan", params.words)
        check_buffers(&spans, q, k_cache, v_cache, out, params.words, 0, 0)
        cdef size_t row_bytes = <size_t>params.words[KV_DIM] * CACHE_ELEMENT
        self.capacity = min(
            UINT32_MAX,
            min((<Buffer>k_cache).data_length, (<Buffer>v_cache).data_length) // row_bytes,
        )
        params.words[SEQ_LEN] = self.capacity
        check_buffers(&spans, q, k_cache, v_cache, out, params.words, 0, 0)
        pipeline = find_kernel(registry, device, params.words[HEAD_DIM])
        try:
            fill_decode(&launch, device, pipeline, q, k_cache, v_cache, out, &spans,
                        params.words)
            self.keep(pipeline, &launch)
        finally:
            clear_launch(&launch)
        # The window may leave no more than the last row.
        for index in (K_CACHE, V_CACHE):
            check_size(pipeline, index, row_bytes, "from its last row on",
                       "a plan serves kernels that read the caches a row or less at a time")
        set_window(self, row_bytes)

    def __repr__(self):
        return (
            f"<flashmetal.DecodePlan of {self.pipeline.name!r} over {self.capacity} rows on "
            f"{self.device.name}>"
        )

    def encode(self, encoder, seq_len, start=0):
        """Encode attention over the `seq_len` rows of the caches from row `start` on.

        Parameters
        ----------
        encoder
            Of the plan's device.
        seq_len : int
            Rows to attend to; 0 writes zeros to `out`.
        start : int
            The first of them: a sliding window moves it, and copies nothing.

        Raises
        ------
        InvalidArgument
            When the rows are not all in the caches, or the encoder belongs to another device.
        InvalidState
            When a buffer of the plan is released, the encoder committed, discarded or in use by
            another thread, or when too many encoders are uncommitted.
        """
        need_encoder(encoder, "DecodePlan")
        self.encode_at(<CommandEncoder>encoder, to_u32(seq_len, OP, "seq_len"),
                       to_u32(start, OP, "start"))

    cdef int encode_at(self, CommandEncoder encoder, uint32_t seq_len,
                       uint32_t start) except -1 nogil:
        check_rows(seq_len, start, self.capacity)
        self.check(encoder)
        slide(&self.block.window, seq_len, start)
        if record(encoder, &self.block.dispatch):
            return 0
        encoder.open()
        # Other threads may have used the plan, or released its buffers, while this one waited.
        self.check(encoder)
        slide(&self.block.window, seq_len, start)
        return encoder.encode(&self.block.dispatch)


cdef void set_window(DecodePlan plan, size_t row_bytes) noexcept:
    # fill_decode adds the arguments in the order of their indices.
    cdef PlanWindow *window = &plan.block.window
    window.k_cache = &plan.arguments[K_CACHE]
    window.v_cache = &plan.arguments[V_CACHE]
    window.k_offset = window.k_cache.offset
    window.v_offset = window.v_cache.offset
    window.seq_len = <uint32_t *>plan.arguments[PARAMS].bytes + SEQ_LEN
    window.row_bytes = row_bytes


cdef int check_rows(uint32_t seq_len, uint32_t start, uint32_t capacity) except -1 nogil:
    if <uint64_t>start + seq_len <= capacity:
        return 0
    return refuse_rows(seq_len, start, capacity)


cdef int refuse_rows(uint32_t seq_len, uint32_t start, uint32_t capacity) except -1 with gil:
    raise InvalidArgument(
        f"{OP}: {seq_len} rows from row {start} on are not all in the caches, which have {capacity}"
    )
