# cython: binding=False, embedsignature=True, embedsignature.format=clinic
# Functions of Python's own kind are called faster.
"""LaunchPlan: a dispatch that is checked once, patched, and encoded again and again."""

cimport cython
from cpython.buffer cimport PyBUF_SIMPLE, PyBuffer_Release, PyObject_GetBuffer
from cpython.float cimport PyFloat_Check
from cpython.mem cimport PyMem_Free, PyMem_Malloc
from cpython.number cimport PyIndex_Check
from libc.math cimport isfinite
from libc.stdint cimport INT32_MIN, INT64_MAX, UINT32_MAX, uint32_t
from libc.string cimport memcpy, memset

from flashmetal._argument cimport need, need_truth
from flashmetal._bridge cimport FM_MAX_BUFFERS, fm_argument, fm_threadgroup_memory
from flashmetal._buffer cimport Allocation, release_count, require_live
from flashmetal._dispatch cimport Launch, check_same_device, clear_launch, fill_launch
from flashmetal._encoder cimport CommandEncoder, need_encoder, record
from flashmetal._integer cimport quick_integer
from flashmetal._pipeline cimport Pipeline

import numpy as np

from flashmetal._argument import MISSING
from flashmetal.errors import InvalidArgument

__all__ = ["LaunchPlan"]

cdef enum:
    BYTES_UNIT = 16  # alignment of the copies, as the widest type of a kernel needs


cdef class Plan:
    """What all plans are: one checked dispatch, and what keeps it valid."""

    def __dealloc__(self):
        PyMem_Free(self.block)

    @property
    def device(self):
        """The device whose encoders take the plan."""
        # As Python does it: a bare Plan has no pipeline.
        return (<object>self.pipeline).device

    cdef int keep(self, Pipeline pipeline, const Launch *launch) except -1:
        cdef size_t arguments = launch.dispatch.argument_count * sizeof(fm_argument)
        cdef size_t memory = (
            launch.dispatch.threadgroup_memory_count * sizeof(fm_threadgroup_memory)
        )
        cdef size_t size = sizeof(PlanBlock) + round_up(arguments + memory)
        cdef PlanBlock *block = <PlanBlock *>PyMem_Malloc(size + count_bytes(launch))
        if block is NULL:
            raise MemoryError
        cdef char *behind = <char *>(block + 1)
        memset(block, 0, sizeof(PlanBlock))
        memcpy(behind, launch.arguments, arguments)
        memcpy(behind + arguments, launch.threadgroup_memory, memory)
        block.dispatch = launch.dispatch
        block.dispatch.arguments = <fm_argument *>behind
        block.dispatch.threadgroup_memory = <fm_threadgroup_memory *>(behind + arguments)
        self.block = block
        self.arguments = <fm_argument *>behind
        copy_bytes(self, <char *>block + size)
        self.pipeline = pipeline
        self.registry_id = pipeline.device.registry_id
        self.allocations = [<Allocation>launch.held[i] for i in range(launch.held_count)]
        self.releases = release_count
        return 0

    cdef int check(self, CommandEncoder encoder) except -1 nogil:
        if self.registry_id != encoder.registry_id:
            return refuse_device(self, encoder)
        if self.releases != release_count:
            return look_again(self)
        return 0


@cython.final
cdef class LaunchPlan(Plan):
    """One dispatch, checked once and encoded as often as wanted.

    It keeps its pipeline and buffers, and copies of its bytes arguments, which `patch` changes. One
    thread at a time may use a plan.

    Parameters
    ----------
    pipeline
        The kernel.
    args, threadgroups, threads_per_threadgroup, threadgroup_memory
        As of `CommandEncoder.dispatch`.
    exact_threads : bool
        Whether `threadgroups` counts threads, as `CommandEncoder.dispatch_threads` does.

    Attributes
    ----------
    pipeline : Pipeline
        The kernel.

    Raises
    ------
    InvalidArgument, InvalidState
        As `CommandEncoder.dispatch` does, for an encoder of the pipeline's device.
    """

    def __cinit__(self, pipeline=MISSING, args=MISSING, threadgroups=MISSING,
                  threads_per_threadgroup=MISSING, threadgroup_memory=None, *,
                  exact_threads=False):
        cdef Launch launch
        need(pipeline, Pipeline, "LaunchPlan", "pipeline")
        # Before the launch is filled: until then there is nothing that could be cleared.
        cdef bint exact = need_truth(exact_threads, "LaunchPlan", "exact_threads")
        try:
            fill_launch(&launch, (<Pipeline>pipeline).device, pipeline, args, threadgroups,
                        threads_per_threadgroup, threadgroup_memory, exact)
            self.keep(pipeline, &launch)
        finally:
            clear_launch(&launch)

    def __repr__(self):
        return f"<flashmetal.LaunchPlan of {self.pipeline.name!r} on {self.device.name}>"

    def encode(self, encoder):
        """Encode the dispatch.

        Parameters
        ----------
        encoder
            Of the plan's device.

        Raises
        ------
        InvalidArgument
            When the encoder belongs to another device.
        InvalidState
            When a buffer of the plan is released, the encoder committed, discarded or in use by
            another thread, or when too many encoders are uncommitted.
        """
        need_encoder(encoder, "LaunchPlan")
        self.encode_to(<CommandEncoder>encoder)

    cdef int encode_to(self, CommandEncoder encoder) except -1 nogil:
        self.check(encoder)
        if record(encoder, &self.block.dispatch):
            return 0
        encoder.open()
        self.check(encoder)
        return encoder.encode(&self.block.dispatch)

    def patch(self, index, byte_offset, value):
        """Change some bytes of a bytes argument for the encodes to come.

        Parameters
        ----------
        index : int
            Of the argument.
        byte_offset : int
            Of the first byte that changes.
        value : int, float or bytes-like
            What is written depends on the Python type alone, as the kernel's struct is not known:
            an int is one 32-bit integer, unsigned or negative, a float one f32, rounded to the
            nearest; bytes are written as they are.

        Raises
        ------
        InvalidArgument
            When the argument is a buffer or not in the plan, the bytes are not inside it, an int
            fits neither 32 signed nor unsigned bits, a finite float no finite f32, or the value is
            of another type. The plan is as it was then.
        """
        cdef str kernel = self.pipeline.name
        cdef uint32_t position = quick_integer(
            index, 0, FM_MAX_BUFFERS - 1, kernel, "argument index"
        )
        cdef size_t start = quick_integer(byte_offset, 0, INT64_MAX, kernel, "byte_offset")
        cdef uint32_t word
        if isinstance(value, (bytes, bytearray, memoryview)):
            write_bytes(self, position, start, value)
        else:
            word = to_word(kernel, value)
            memcpy(find_room(self, position, start, sizeof(word)), &word, sizeof(word))

    cdef char *find_bytes(self, uint32_t index, size_t end) noexcept nogil:
        cdef fm_argument *argument
        for i in range(self.block.dispatch.argument_count):
            argument = &self.arguments[i]
            if argument.index == index and argument.buffer is NULL and end <= argument.length:
                return <char *>argument.bytes
        return NULL


# ---- storage ------------------------------------------------------------------------------------

cdef size_t round_up(size_t size) noexcept nogil:
    return (size + BYTES_UNIT - 1) // BYTES_UNIT * BYTES_UNIT


cdef void copy_bytes(Plan plan, char *room) noexcept:
    cdef fm_argument *argument
    for i in range(plan.block.dispatch.argument_count):
        argument = &plan.arguments[i]
        if argument.buffer is NULL:
            memcpy(room, argument.bytes, argument.length)
            argument.bytes = room
            room += round_up(argument.length)


cdef size_t count_bytes(const Launch *launch) noexcept nogil:
    cdef size_t total = 0
    for i in range(launch.dispatch.argument_count):
        if launch.arguments[i].buffer is NULL:
            total += round_up(launch.arguments[i].length)
    return total


# ---- what makes a plan wrong --------------------------------------------------------------------

cdef int refuse_device(Plan plan, CommandEncoder encoder) except -1 with gil:
    return check_same_device(encoder.device, plan.device, plan.pipeline.name, "the plan")


cdef int look_again(Plan plan) except -1 with gil:
    # Some buffer was released since: one of the plan's, or another.
    cdef size_t seen = release_count
    cdef size_t position = 0
    for i in range(plan.block.dispatch.argument_count):
        if plan.arguments[i].buffer is not NULL:
            check_live(plan, plan.arguments[i].index, plan.allocations[position])
            position += 1
    plan.releases = seen
    return 0


cdef int check_live(Plan plan, uint32_t index, Allocation allocation) except -1:
    return require_live(allocation, f"{plan.pipeline.name}: the buffer of argument {index}")


# ---- patches ------------------------------------------------------------------------------------

cdef char *find_room(LaunchPlan plan, uint32_t index, size_t start, size_t size) except NULL:
    cdef char *memory = plan.find_bytes(index, start + size)
    cdef fm_argument *argument
    if memory is not NULL:
        return memory + start
    for i in range(plan.block.dispatch.argument_count):
        argument = &plan.arguments[i]
        if argument.index == index and argument.buffer is not NULL:
            raise InvalidArgument(
                f"{plan.pipeline.name}: argument {index} is a buffer, and only bytes are patched; "
                "another buffer or offset takes another plan"
            )
        if argument.index == index:
            raise InvalidArgument(
                f"{plan.pipeline.name}: bytes {start} to {start + size} are not inside the "
                f"{argument.length} bytes of argument {index}"
            )
    raise InvalidArgument(f"{plan.pipeline.name}: the plan has no argument {index}")


cdef int write_bytes(LaunchPlan plan, uint32_t index, size_t start, object value) except -1:
    cdef Py_buffer view
    try:
        PyObject_GetBuffer(value, &view, PyBUF_SIMPLE)
    except (BufferError, ValueError) as error:
        raise InvalidArgument(
            f"{plan.pipeline.name}: the patch of argument {index}: {error}"
        ) from error
    try:
        memcpy(find_room(plan, index, start, view.len), view.buf, view.len)
    finally:
        PyBuffer_Release(&view)
    return 0


cdef uint32_t to_word(str kernel, object value) except? 0xFFFFFFFF:
    if PyFloat_Check(value) or isinstance(value, np.floating):
        return float_word(kernel, value)
    # NumPy before 2.0 takes its own for an index, too.
    if PyIndex_Check(value) and not isinstance(value, (bool, np.bool_)):
        return <uint32_t>quick_integer(value, INT32_MIN, UINT32_MAX, kernel, "a patch")
    raise InvalidArgument(
        f"{kernel}: a patch must be an int, a float or bytes, got {value!r}; fields of other "
        "types, bool included, are given as bytes"
    )


cdef uint32_t float_word(str kernel, double value) except? 0xFFFFFFFF:
    cdef float rounded = <float>value
    cdef uint32_t word
    if isfinite(value) and not isfinite(rounded):
        raise InvalidArgument(f"{kernel}: a patch must fit f32, got {value!r}")
    memcpy(&word, &rounded, sizeof(word))
    return word
