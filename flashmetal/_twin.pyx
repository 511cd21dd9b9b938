"""C twins, for benchmarks: the calls of the bridge that a C program would make, timed in C."""

from cpython.mem cimport PyMem_Calloc, PyMem_Free
from libc.stdint cimport int64_t, uint32_t
from libc.string cimport memcpy

from flashmetal._bridge cimport (
    FM_OK, encoder_begin, encoder_commit, encoder_create, encoder_dispatch, encoder_release,
    encoder_spin, encoder_wait, fm_argument, fm_dispatch, fm_encoder,
)
from flashmetal._decode_plan cimport DecodePlan
from flashmetal._encoder cimport CommandEncoder
from flashmetal._flash_attention cimport K_CACHE, PARAMS, V_CACHE
from flashmetal._params cimport SEQ_LEN, WORDS
from flashmetal._plan cimport LaunchPlan
from flashmetal._wait cimport monotonic_ns

from flashmetal.errors import InvalidArgument, InvalidState

__all__ = ["LaunchTwin", "Twin"]

cdef enum:
    ARGUMENTS = 5
    DEEPEST = 16


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
            begin = monotonic_ns()
            for _ in range(rounds):
                failed |= encode_layers(handle, self.layers, self.count, seq_len, start)
            end = monotonic_ns()
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


cdef class LaunchTwin:
    """Command buffers of one plan's dispatch.

    Parameters
    ----------
    plan : LaunchPlan
        Whose dispatch it is.
    """

    cdef LaunchPlan plan                  # kept alive

    def __cinit__(self, LaunchPlan plan not None):
        self.plan = plan

    def run(self, size_t dispatches, size_t command_buffers, size_t depth, bint spin):
        """Run command buffers one after another, each from its encoder to its end.

        Parameters
        ----------
        dispatches : int
            Of each command buffer.
        command_buffers : int
            How many.
        depth : int
            How many are in flight at most, up to 16: before one more, the oldest is waited for.
        spin : bool
            Whether the wait looks in place of sleeping.

        Returns
        -------
        int
            Nanoseconds of all of them.
        """
        cdef fm_encoder *in_flight[DEEPEST]
        cdef fm_encoder **place
        cdef size_t i
        cdef int64_t begin, end
        cdef int failed = 0
        if not 1 <= depth <= DEEPEST:
            raise InvalidArgument(f"the twin's depth must be 1 to {DEEPEST}, got {depth}")
        for i in range(depth):
            in_flight[i] = NULL
        with nogil:
            begin = monotonic_ns()
            for i in range(command_buffers):
                place = &in_flight[i % depth]
                failed |= end_work(place, spin) or self.submit(place, dispatches)
            for i in range(depth):
                failed |= end_work(&in_flight[(command_buffers + i) % depth], spin)
            end = monotonic_ns()
        if failed:
            raise InvalidState("the bridge refused a command buffer of the twin")
        return end - begin

    def stages(self, bint spin):
        """Run one command buffer of one dispatch.

        Returns
        -------
        tuple of int
            Nanoseconds until it is encoded, from there until it is committed, and until its end.
        """
        cdef fm_encoder *encoder = NULL
        cdef int64_t times[4]
        cdef int failed
        with nogil:
            times[0] = monotonic_ns()
            failed = begin_work(&encoder, self.plan)
            failed |= encoder_dispatch(encoder, &self.plan.block.dispatch, NULL) != FM_OK
            times[1] = monotonic_ns()
            failed |= encoder_commit(encoder, NULL) != FM_OK
            times[2] = monotonic_ns()
            failed |= end_work(&encoder, spin)
            times[3] = monotonic_ns()
        if failed:
            raise InvalidState("the bridge refused a command buffer of the twin")
        return tuple([times[i + 1] - times[i] for i in range(3)])

    cdef int submit(self, fm_encoder **place, size_t dispatches) noexcept nogil:
        cdef int failed = begin_work(place, self.plan)
        for _ in range(dispatches):
            failed |= encoder_dispatch(place[0], &self.plan.block.dispatch, NULL) != FM_OK
        return failed or encoder_commit(place[0], NULL) != FM_OK


cdef int begin_work(fm_encoder **place, LaunchPlan plan) noexcept nogil:
    return (
        encoder_create(plan.pipeline.device.handle, place, NULL) != FM_OK
        or encoder_begin(place[0], NULL, -1, NULL) != FM_OK
    )


cdef int end_work(fm_encoder **place, bint spin) noexcept nogil:
    # Nothing where there is none yet.
    cdef fm_encoder *encoder = place[0]
    if encoder is NULL:
        return 0
    place[0] = NULL
    status = encoder_spin(encoder, -1, NULL) if spin else encoder_wait(encoder, -1, NULL)
    encoder_release(encoder)
    return status != FM_OK
