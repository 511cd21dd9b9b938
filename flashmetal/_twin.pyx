"""The C twin of a DecodeStep, for benchmarks: the calls that a C program would make, timed in C."""

from cpython.mem cimport PyMem_Calloc, PyMem_Free
from libc.stdint cimport int64_t, uint32_t
from libc.string cimport memcpy
from posix.time cimport CLOCK_MONOTONIC, clock_gettime, timespec

from flashmetal._bridge cimport FM_OK, encoder_dispatch, fm_argument, fm_dispatch, fm_encoder
from flashmetal._decode_plan cimport DecodePlan
from flashmetal._encoder cimport CommandEncoder
from flashmetal._flash_attention cimport K_CACHE, PARAMS, V_CACHE
from flashmetal._params cimport SEQ_LEN, WORDS

from flashmetal.errors import InvalidState

__all__ = ["Twin"]

cdef enum:
    ARGUMENTS = 5
    SECOND_NS = 1_000_000_000


# What a C program would keep for a layer.
cdef struct Layer:
    fm_dispatch dispatch
    fm_argument arguments[ARGUMENTS]
    uint32_t words[WORDS]
    size_t k_offset
    size_t v_offset
    size_t row_bytes


cdef class Twin:
    """The dispatches of plans, without a check, an object or a call of Python between.

    Parameters
    ----------
    plans : list of DecodePlan
        Whose dispatches they are; their buffers must stay.
    """

    cdef Layer *layers                    # owned
    cdef list plans                       # kept alive
    cdef size_t count

    def __cinit__(self, list plans not None):
        self.plans = plans
        self.count = len(plans)
        self.layers = <Layer *>PyMem_Calloc(self.count, sizeof(Layer))
        if self.layers is NULL:
            raise MemoryError
        for i in range(self.count):
            fill_layer(&self.layers[i], plans[i])

    def __dealloc__(self):
        PyMem_Free(self.layers)

    def encode(self, CommandEncoder encoder not None, uint32_t seq_len, uint32_t start,
               size_t rounds):
        """Encode all layers `rounds` times, into an encoder that has begun.

        Returns
        -------
        int
            Nanoseconds.
        """
        cdef fm_encoder *handle = encoder.handle
        cdef int64_t begin, end
        cdef int failed = 0
        if not encoder.is_recording():
            raise InvalidState("the twin needs an encoder with a dispatch in it")
        with nogil:
            begin = now_ns()
            for _ in range(rounds):
                failed |= encode_layers(handle, self.layers, self.count, seq_len, start)
            end = now_ns()
        if failed:
            raise InvalidState("the bridge refused a dispatch of the twin")
        return end - begin


cdef int fill_layer(Layer *layer, DecodePlan plan) except -1:
    cdef fm_argument *words = &layer.arguments[PARAMS]
    layer.dispatch = plan.block.dispatch
    layer.dispatch.arguments = layer.arguments
    memcpy(layer.arguments, plan.arguments, sizeof(layer.arguments))
    memcpy(layer.words, words.bytes, sizeof(layer.words))
    words.bytes = layer.words
    layer.k_offset = plan.block.window.k_offset
    layer.v_offset = plan.block.window.v_offset
    layer.row_bytes = plan.block.window.row_bytes
    return 0


cdef int encode_layers(fm_encoder *encoder, Layer *layers, size_t count, uint32_t seq_len,
                       uint32_t start) noexcept nogil:
    cdef Layer *layer
    cdef int failed = 0
    for i in range(count):
        layer = &layers[i]
        layer.words[SEQ_LEN] = seq_len
        layer.arguments[K_CACHE].offset = layer.k_offset + start * layer.row_bytes
        layer.arguments[V_CACHE].offset = layer.v_offset + start * layer.row_bytes
        failed |= encoder_dispatch(encoder, &layer.dispatch, NULL) != FM_OK
    return failed


cdef int64_t now_ns() noexcept nogil:
    cdef timespec now
    clock_gettime(CLOCK_MONOTONIC, &now)
    return now.tv_sec * <int64_t>SECOND_NS + now.tv_nsec
