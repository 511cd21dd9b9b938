"""The checks of a dispatch: Python arguments in, a struct that Metal takes out.

They run in this order: pipeline, grid, threadgroup size, threadgroup memory, arguments one by one
as they are given, arguments that are missing.
"""

from cpython.buffer cimport PyBUF_SIMPLE, PyBuffer_Release, PyObject_GetBuffer
from cpython.object cimport PyObject
from cpython.ref cimport Py_DECREF, Py_INCREF
from libc.stdint cimport INT64_MAX, UINT32_MAX, uint32_t, uint64_t

from flashmetal._argument cimport need
from flashmetal._bridge cimport (
    FM_MAX_BUFFERS, FM_MAX_BYTES, fm_argument, fm_threadgroup_memory,
)
from flashmetal._buffer cimport Allocation, Buffer, require_live
from flashmetal._device cimport Device
from flashmetal._integer cimport to_integer
from flashmetal._pipeline cimport Pipeline

from flashmetal._argument import MISSING
from flashmetal._text import counted
from flashmetal.errors import InvalidArgument, InvalidType

__all__ = ["BufferWithOffset"]

cdef str COPIED = "bytes are copied"

cdef enum:
    THREADGROUP_MEMORY_UNIT = 16  # bytes


cdef class BufferWithOffset:
    """A buffer argument at an offset of its allocation, whatever view the buffer is.

    Parameters
    ----------
    buffer : Buffer
        Any handle on the allocation.
    offset : int
        Bytes from the start of the allocation.

    Raises
    ------
    InvalidArgument
        When the offset is not inside the allocation.
    """

    def __cinit__(self, buffer=MISSING, offset=MISSING):
        need(buffer, Buffer, "BufferWithOffset", "buffer")
        self.buffer = buffer
        self.offset = to_integer(offset, 0, self.buffer.allocation.length - 1, "BufferWithOffset",
                                 "offset")

    def __repr__(self):
        return f"BufferWithOffset({self.buffer!r}, {self.offset})"


cdef int fill_launch(Launch *launch, Device device, Pipeline pipeline, object args, object grid,
                     object threads_per_threadgroup, object threadgroup_memory,
                     bint exact_threads) except -1:
    open_launch(launch, device, pipeline)
    launch.dispatch.exact_threads = exact_threads
    fill_size(launch.dispatch.grid, grid, pipeline.name,
              "threads" if exact_threads else "threadgroups")
    fill_size(launch.dispatch.threads_per_threadgroup, threads_per_threadgroup, pipeline.name,
              "threads_per_threadgroup")
    check_thread_count(launch.dispatch.threads_per_threadgroup, pipeline)
    fill_threadgroup_memory(launch, device, pipeline, threadgroup_memory)
    for key, value in as_dict(args, pipeline.name, "args").items():
        index = to_integer(key, 0, FM_MAX_BUFFERS - 1, pipeline.name, "argument index")
        fill_argument(launch, add_argument(launch, pipeline, index), device, pipeline, value)
    return close_launch(launch, pipeline)


cdef int open_rows(Launch *launch, Device device, Pipeline pipeline, uint64_t threadgroups,
                   uint64_t threads) except -1:
    cdef uint64_t *grid = launch.dispatch.grid
    cdef uint64_t *size = launch.dispatch.threads_per_threadgroup
    open_launch(launch, device, pipeline)
    launch.dispatch.exact_threads = False
    grid[0] = threadgroups
    size[0] = threads
    grid[1] = grid[2] = size[1] = size[2] = 1
    check_thread_count(size, pipeline)
    return fill_threadgroup_memory(launch, device, pipeline, None)


cdef int add_buffer(Launch *launch, Device device, Pipeline pipeline, uint32_t index,
                    Buffer buffer, size_t offset) except -1:
    return bind_at(launch, add_argument(launch, pipeline, index), device, pipeline, buffer, offset,
                   buffer.offset + buffer.data_length)


cdef int add_bytes(Launch *launch, Pipeline pipeline, uint32_t index, const void *memory,
                   size_t length) except -1:
    cdef fm_argument *argument = add_argument(launch, pipeline, index)
    check_not_written(pipeline, index, COPIED)
    return bind_memory(argument, pipeline, memory, length)


cdef int close_launch(Launch *launch, Pipeline pipeline) except -1:
    return check_none_missing(pipeline, pipeline.info.used & ~launch.given, "argument")


cdef void clear_launch(Launch *launch) noexcept:
    while launch.view_count:
        launch.view_count -= 1
        PyBuffer_Release(&launch.views[launch.view_count])
    while launch.held_count:
        launch.held_count -= 1
        (<Allocation>launch.held[launch.held_count]).exports -= 1
        Py_DECREF(<object>launch.held[launch.held_count])


cdef int open_launch(Launch *launch, Device device, Pipeline pipeline) except -1:
    launch.view_count = 0
    launch.held_count = 0
    launch.given = 0
    check_same_device(device, pipeline.device, pipeline.name, "the pipeline")
    launch.dispatch.pipeline = pipeline.handle
    launch.dispatch.arguments = launch.arguments
    launch.dispatch.argument_count = 0
    launch.dispatch.threadgroup_memory = launch.threadgroup_memory
    launch.dispatch.threadgroup_memory_count = 0
    return 0


cdef int check_same_device(Device device, Device other, str kernel, str what) except -1:
    if other is not device and other.registry_id != device.registry_id:
        raise InvalidArgument(
            f"{kernel}: {what} belongs to Metal device {other.registry_id}, "
            f"the encoder to {device.registry_id}"
        )
    return 0


# ---- grid ---------------------------------------------------------------------------------------

cdef int fill_size(uint64_t *size, object value, str kernel, str what) except -1:
    size[0] = size[1] = size[2] = 1
    if not isinstance(value, tuple):
        size[0] = to_integer(value, 1, UINT32_MAX, kernel, what)
        return 0
    cdef tuple dimensions = value
    if not 1 <= len(dimensions) <= 3:
        raise InvalidArgument(f"{kernel}: {what} must have 1 to 3 dimensions, got {value!r}")
    for i in range(len(dimensions)):
        size[i] = to_integer(dimensions[i], 1, UINT32_MAX, kernel, what)
    return 0


cdef int check_thread_count(const uint64_t *threads, Pipeline pipeline) except -1:
    cdef uint64_t most = pipeline.info.max_threads
    # Each factor fits 32 bits, and what is compared first bounds the product.
    if threads[0] > most or threads[0] * threads[1] > most or (
        threads[0] * threads[1] * threads[2] > most
    ):
        raise InvalidArgument(
            f"{pipeline.name}: {threads[0]} × {threads[1]} × {threads[2]} threads per threadgroup, "
            f"the pipeline allows {most}"
        )
    return 0


# ---- threadgroup memory -------------------------------------------------------------------------

cdef int fill_threadgroup_memory(Launch *launch, Device device, Pipeline pipeline,
                                 object memory) except -1:
    cdef uint64_t total = pipeline.info.static_threadgroup_memory
    cdef uint32_t given = 0
    cdef fm_threadgroup_memory *slot
    if memory is not None:
        for key, value in as_dict(memory, pipeline.name, "threadgroup_memory").items():
            slot = &launch.threadgroup_memory[launch.dispatch.threadgroup_memory_count]
            fill_threadgroup_slot(slot, pipeline, key, value)
            given = add_index(pipeline, given, slot.index, "threadgroup memory")
            total += slot.length
            launch.dispatch.threadgroup_memory_count += 1
    if total > device.info.max_threadgroup_memory:
        raise InvalidArgument(
            f"{pipeline.name}: {total} bytes of threadgroup memory "
            f"({pipeline.info.static_threadgroup_memory} of them static), "
            f"the device has {device.info.max_threadgroup_memory}"
        )
    return check_none_missing(pipeline, pipeline.info.threadgroup_declared & ~given,
                              "threadgroup memory")


cdef int fill_threadgroup_slot(fm_threadgroup_memory *slot, Pipeline pipeline, object key,
                               object value) except -1:
    slot.index = to_integer(key, 0, FM_MAX_BUFFERS - 1, pipeline.name, "threadgroup memory index")
    slot.length = to_integer(value, 1, UINT32_MAX, pipeline.name, "threadgroup memory length")
    check_declared(pipeline, pipeline.info.threadgroup_declared, slot.index, "threadgroup memory")
    if slot.length % THREADGROUP_MEMORY_UNIT:
        raise InvalidArgument(
            f"{pipeline.name}: threadgroup memory {slot.index} of {slot.length} bytes is not a "
            f"multiple of {THREADGROUP_MEMORY_UNIT}"
        )
    return 0


# ---- arguments ----------------------------------------------------------------------------------

cdef fm_argument *add_argument(Launch *launch, Pipeline pipeline, uint32_t index) except NULL:
    cdef fm_argument *argument = &launch.arguments[launch.dispatch.argument_count]
    check_declared(pipeline, pipeline.info.declared, index, "argument")
    launch.given = add_index(pipeline, launch.given, index, "argument")
    launch.dispatch.argument_count += 1
    argument.index = index
    return argument


cdef int fill_argument(Launch *launch, fm_argument *argument, Device device, Pipeline pipeline,
                       object value) except -1:
    if isinstance(value, Buffer):
        return bind_buffer(launch, argument, device, pipeline, value, 0)
    if isinstance(value, BufferWithOffset):
        return bind_place(launch, argument, device, pipeline, value)
    if isinstance(value, (bytes, bytearray, memoryview)):
        return bind_bytes(launch, argument, pipeline, value)
    if isinstance(value, tuple) and len(value) == 2 and isinstance(value[0], Buffer):
        return bind_buffer(launch, argument, device, pipeline, value[0], value[1])
    raise InvalidType(
        f"{pipeline.name}: argument {argument.index} must be a Buffer, (Buffer, offset), "
        f"BufferWithOffset or bytes, got {type(value).__name__}; "
        "device.wrap(array) makes a Buffer of an array"
    )


cdef int bind_buffer(Launch *launch, fm_argument *argument, Device device, Pipeline pipeline,
                     Buffer buffer, object offset) except -1:
    cdef size_t start = to_integer(offset, 0, INT64_MAX, pipeline.name, "buffer offset")
    if start >= buffer.data_length:
        raise InvalidArgument(
            f"{pipeline.name}: argument {argument.index} offset {start} is not inside its "
            f"{buffer.data_length} bytes"
        )
    return bind_at(launch, argument, device, pipeline, buffer, buffer.offset + start,
                   buffer.offset + buffer.data_length)


cdef int bind_place(Launch *launch, fm_argument *argument, Device device, Pipeline pipeline,
                    BufferWithOffset place) except -1:
    return bind_at(launch, argument, device, pipeline, place.buffer, place.offset,
                   place.buffer.allocation.length)


cdef int bind_at(Launch *launch, fm_argument *argument, Device device, Pipeline pipeline,
                 Buffer buffer, size_t offset, size_t end) except -1:
    cdef Allocation allocation = buffer.allocation
    cdef uint32_t alignment = pipeline.info.alignment[argument.index]
    check_same_device(device, allocation.device, pipeline.name, "a buffer")
    if allocation.handle is NULL:
        require_live(allocation, f"{pipeline.name}: the buffer of argument {argument.index}")
    if alignment > 1 and offset % alignment:
        raise InvalidArgument(
            f"{pipeline.name}: argument {argument.index} offset {offset} is not a multiple of "
            f"{alignment}"
        )
    check_size(pipeline, argument.index, end - offset, "from its offset on",
               "bind a larger buffer or a smaller offset")
    if buffer.is_read_only:
        check_not_written(pipeline, argument.index, "its buffer is read-only memory or a copy")
    argument.buffer = allocation.handle
    argument.offset = offset
    argument.bytes = NULL
    argument.length = 0
    Py_INCREF(allocation)
    # Nobody releases it while the encoder waits for a command buffer without the GIL.
    allocation.exports += 1
    launch.held[launch.held_count] = <PyObject *>allocation
    launch.held_count += 1
    return 0


cdef int bind_bytes(Launch *launch, fm_argument *argument, Pipeline pipeline,
                    object value) except -1:
    cdef Py_buffer *view = &launch.views[launch.view_count]
    check_not_written(pipeline, argument.index, COPIED)
    try:
        PyObject_GetBuffer(value, view, PyBUF_SIMPLE)
    except (BufferError, ValueError) as error:
        raise InvalidArgument(f"{pipeline.name}: argument {argument.index}: {error}") from error
    launch.view_count += 1
    return bind_memory(argument, pipeline, view.buf, view.len)


cdef int bind_memory(fm_argument *argument, Pipeline pipeline, const void *memory,
                     size_t length) except -1:
    if not 1 <= length <= FM_MAX_BYTES:
        raise InvalidArgument(
            f"{pipeline.name}: argument {argument.index} has {length} bytes, "
            f"which must be 1 to {FM_MAX_BYTES}; a Buffer takes more"
        )
    check_size(pipeline, argument.index, length, "",
               "give the whole value, with the padding at the end of a struct")
    argument.buffer = NULL
    argument.offset = 0
    argument.bytes = memory
    argument.length = length
    return 0


cdef int refuse_size(Pipeline pipeline, uint32_t index, size_t size, str given,
                     str advice) except -1:
    # What lies behind would be read: bytes of other arguments, or of nobody.
    cdef const char *text = pipeline.info.name[index]
    name = "" if text is NULL else f" '{text.decode('utf-8', 'replace')}'"
    place = f" {given}" if given else ""
    raise InvalidArgument(
        f"{pipeline.name}: argument {index}{name} has {counted(size, 'byte')}{place}, and the "
        f"kernel's type for it takes {pipeline.info.size[index]}: {advice}"
    )


cdef int check_not_written(Pipeline pipeline, uint32_t index, str reason) except -1:
    if pipeline.info.writable >> index & 1:
        raise InvalidArgument(f"{pipeline.name}: the kernel writes argument {index}, but {reason}")
    return 0


# ---- both ---------------------------------------------------------------------------------------

cdef dict as_dict(object value, str kernel, str what):
    if not isinstance(value, dict):
        raise InvalidType(
            f"{kernel}: {what} must be a dict by index, got {type(value).__name__}"
        )
    return value


cdef int check_declared(Pipeline pipeline, uint32_t declared, uint32_t index,
                        str what) except -1:
    if not declared >> index & 1:
        raise InvalidArgument(
            f"{pipeline.name}: the kernel declares no {what} {index}, only {indices(declared)}"
        )
    return 0


cdef uint32_t add_index(Pipeline pipeline, uint32_t given, uint32_t index, str what) except? 0:
    # Keys that differ may stand for one index. Refused, no index can fill more than its one slot.
    if given >> index & 1:
        raise InvalidArgument(f"{pipeline.name}: {what} {index} is given twice")
    return given | <uint32_t>1 << index


cdef int check_none_missing(Pipeline pipeline, uint32_t missing, str what) except -1:
    if missing:
        raise InvalidArgument(f"{pipeline.name}: {what} {indices(missing)} is not given")
    return 0


cdef str indices(uint32_t mask):
    return ", ".join([str(i) for i in range(FM_MAX_BUFFERS) if mask >> i & 1]) or "none"
