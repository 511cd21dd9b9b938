# cython: binding=False, embedsignature=True, embedsignature.format=clinic
# Functions of Python's own kind are called faster.
"""DecodeStep: the plans of one decode step, encoded in one call."""

cimport cython
from cpython.mem cimport PyMem_Free, PyMem_Malloc
from libc.stdint cimport UINT32_MAX, uint32_t

from flashmetal._buffer cimport release_count
from flashmetal._decode_plan cimport DecodePlan, check_rows, slide
from flashmetal._encoder cimport CommandEncoder, need_encoder, record_barrier, record_next
from flashmetal._plan cimport LaunchPlan, Plan, PlanBlock
from flashmetal._words cimport to_u32

from flashmetal._argument import MISSING
from flashmetal.errors import InvalidArgument, InvalidType

__all__ = ["Barrier", "DecodeStep"]


@cython.final
cdef class Barrier:
    """What `BARRIER` is."""

    def __repr__(self):
        return "flashmetal.BARRIER"

    def __reduce__(self):
        return "BARRIER"


BARRIER = Barrier()


@cython.final
cdef class DecodeStep:
    """A sequence of plans and barriers, encoded in one call.

    What has no barrier between is independent, and may run at the same time. One thread at a time
    may use a step and its plans.

    Parameters
    ----------
    entries : iterable of DecodePlan, LaunchPlan and BARRIER
        In the order of encoding. A plan may stand in several steps, and be encoded by itself.

    Attributes
    ----------
    entries : tuple
        The same.
    capacity : int
        Rows that the caches of all its DecodePlans have.

    Raises
    ------
    InvalidArgument
        When there is no plan, an entry is of another type, or two plans belong to different
        devices.
    """

    def __cinit__(self, entries=MISSING):
        self.entries = to_tuple(entries)
        self.count = len(self.entries)
        self.blocks = <PlanBlock **>PyMem_Malloc(self.count * sizeof(PlanBlock *))
        if self.blocks is NULL:
            raise MemoryError
        self.capacity = UINT32_MAX
        self.releases = release_count
        cdef Plan first = None
        for i in range(self.count):
            plan = add_entry(self, i, self.entries[i])
            if plan is not None:
                first = first or plan
                check_device(plan, first, i)
        if first is None:
            raise InvalidArgument("DecodeStep: there is no plan among the entries")
        self.registry_id = first.registry_id

    def __dealloc__(self):
        PyMem_Free(self.blocks)

    def __repr__(self):
        return f"<flashmetal.DecodeStep of {self.count} entries>"

    def encode(self, encoder, seq_len, start=0):
        """Encode the entries in their order: all of them, or none.

        Parameters
        ----------
        encoder
            Of the plans' device.
        seq_len, start : int
            The rows that the DecodePlans attend to, as of `DecodePlan.encode`.

        Raises
        ------
        InvalidArgument
            When the rows are not in the caches of all plans, or the encoder belongs to another
            device.
        InvalidState
            When a buffer of a plan is released, the encoder committed, discarded or in use by
            another thread, or when too many encoders are uncommitted.
        """
        need_encoder(encoder, "DecodeStep")
        self.encode_at(<CommandEncoder>encoder, to_u32(seq_len, "DecodeStep", "seq_len"),
                       to_u32(start, "DecodeStep", "start"))

    cdef int encode_at(self, CommandEncoder encoder, uint32_t seq_len,
                       uint32_t start) except -1 nogil:
        cdef PlanBlock *block
        check_rows(seq_len, start, self.capacity)
        self.check(encoder)
        if not encoder.is_recording():
            encoder.open()
            # Other threads may have released buffers while this one waited.
            self.check(encoder)
        for i in range(self.count):
            block = self.blocks[i]
            if block is NULL:
                if not record_barrier(encoder):
                    encoder.order()
                continue
            if block.window.seq_len is not NULL:
                slide(&block.window, seq_len, start)
            if not record_next(encoder, &block.dispatch):
                encoder.encode(&block.dispatch)
        return 0

    cdef int check(self, CommandEncoder encoder) except -1 nogil:
        if self.registry_id != encoder.registry_id or self.releases != release_count:
            return look_at_all(self, encoder)
        return 0


cdef tuple to_tuple(object entries):
    # Sets have no order to encode in.
    if not isinstance(entries, (set, frozenset)):
        try:
            return tuple(entries)
        except TypeError:
            pass
    raise InvalidType(
        "DecodeStep: entries must be plans and BARRIER in their order, got "
        f"{type(entries).__name__}"
    )


cdef Plan add_entry(DecodeStep step, size_t position, object entry):
    # Returns the plan, or None for a barrier.
    step.blocks[position] = NULL
    if isinstance(entry, Barrier):
        return None
    if not isinstance(entry, (DecodePlan, LaunchPlan)):
        raise InvalidType(
            f"DecodeStep: entry {position} must be a DecodePlan, a LaunchPlan or BARRIER, got "
            f"{type(entry).__name__}"
        )
    step.blocks[position] = (<Plan>entry).block
    if isinstance(entry, DecodePlan):
        step.capacity = min(step.capacity, (<DecodePlan>entry).capacity)
    return entry


cdef int check_device(Plan plan, Plan first, size_t position) except -1:
    if plan.registry_id != first.registry_id:
        raise InvalidArgument(
            f"DecodeStep: entry {position} belongs to Metal device {plan.registry_id}, "
            f"the entries before it to {first.registry_id}"
        )
    return 0


cdef int look_at_all(DecodeStep step, CommandEncoder encoder) except -1 with gil:
    cdef size_t seen = release_count
    for entry in step.entries:
        if isinstance(entry, Plan):
            (<Plan>entry).check(encoder)
    step.releases = seen
    return 0
