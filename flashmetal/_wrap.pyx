"""Use of existing memory as a buffer, in place.

Metal takes whole pages, so the pages that enclose the object's bytes become the Metal buffer, and
the handle is the window on the object's own bytes. What else lies on those pages is neither read
nor written: kernels stay inside the handle, and two objects on one page each get a Metal buffer.
"""

from cpython.buffer cimport (
    PyBuffer_IsContiguous,
    PyBuffer_ToContiguous,
    Py_buffer,
    PyObject_CheckBuffer,
)
from libc.stdint cimport uintptr_t
from libc.string cimport memset

from flashmetal._bridge cimport (
    FM_ALLOCATION_FAILED,
    buffer_wrap,
    check,
    check_not_forked,
    error_clear,
    fm_error,
    fm_status,
)
from flashmetal._buffer cimport (
    Allocation,
    Buffer,
    DTypeCode,
    allocate,
    count_bytes,
    dtype_code,
    find_live,
    finish,
    new_allocation,
    new_handle,
)
from flashmetal._device cimport Device
from flashmetal._exporter cimport Export, drain, held_buffer, release_later

import numpy as np

from flashmetal.dtype import name_of, name_of_format, without_bfloat16
from flashmetal.errors import BufferAllocationError, InvalidArgument, UnsupportedDtype

__all__ = ["wrap"]

cdef enum:
    VECTOR_BYTES = 16  # the widest load of a kernel

cdef str WAYS_OUT = (
    "write into a buffer from dev.alloc(shape, dtype) in its place, or allow a copy with copy=None"
)


def wrap(Device device not None, obj, copy=False, strict=False):
    """Use an object's memory as a buffer; `Device.wrap` describes it."""
    check_not_forked()
    drain()
    if copy is not None and not isinstance(copy, bool):
        raise InvalidArgument(f"wrap: copy must be False, None or True, got {copy!r}")
    exporter, is_bfloat16 = without_bfloat16(obj)
    cdef Export source = open_export(exporter)
    cdef DTypeCode code = dtype_code("bf16" if is_bfloat16 else name_elements(exporter, source))
    cdef tuple dimensions = dimensions_of(&source.held.view)
    count_bytes(dimensions, code)
    if copy is not True:
        try:
            return in_place(device, source, code, dimensions, strict)
        except (InvalidArgument, BufferAllocationError):
            if copy is False:
                raise
    return copy_of(device, source, code, dimensions)


cdef Export open_export(exporter):
    if not PyObject_CheckBuffer(exporter):
        raise InvalidArgument(
            "wrap: obj must have the buffer protocol, which "
            f"{type(exporter).__name__} has not; numpy.asarray makes an array of most objects"
        )
    try:
        return Export(exporter)
    except (BufferError, ValueError) as error:
        # NumPy has no format for some of its types.
        if isinstance(exporter, np.ndarray):
            name_of(exporter.dtype)
        raise InvalidArgument(
            f"wrap: {type(exporter).__name__} does not export its memory: {error}"
        ) from error


cdef str name_elements(exporter, Export source):
    cdef const Py_buffer *view = &source.held.view
    text = "B" if view.format == NULL else view.format.decode()
    try:
        return name_of_format(text, view.itemsize)
    except UnsupportedDtype:
        # An array's own spelling says more than a format.
        if isinstance(exporter, np.ndarray):
            name_of(exporter.dtype)
        raise


cdef tuple dimensions_of(const Py_buffer *view):
    if view.ndim and view.shape == NULL:
        return (view.len // view.itemsize,)
    return tuple([view.shape[axis] for axis in range(view.ndim)])


cdef Buffer copy_of(Device device, Export source, DTypeCode code, tuple dimensions):
    cdef Py_buffer *view = &source.held.view
    cdef Allocation allocation = allocate(device, view.len)
    PyBuffer_ToContiguous(allocation.base, view, view.len, b"C")
    allocation.copied = True
    return new_handle(allocation, 0, view.len, code, dimensions, True)


cdef Buffer in_place(Device device, Export source, DTypeCode code, tuple dimensions, bint strict):
    cdef Py_buffer *view = &source.held.view
    cdef size_t page = device.info.page_size
    cdef size_t address = <uintptr_t>view.buf
    cdef size_t length = view.len
    cdef bint read_only = view.readonly
    cdef Allocation allocation
    if not PyBuffer_IsContiguous(view, b"C"):
        raise refusal(address, "its elements are not C-contiguous")
    if strict and (address % page or length % page):
        raise refusal(
            address,
            f"strict takes whole pages of {page} bytes, and its {length} bytes start "
            f"{address % page} bytes into one",
        )
    allocation = find_live(device, <const char *>view.buf, length)
    if allocation is None:
        if address % VECTOR_BYTES:
            raise refusal(
                address, f"the address is not a multiple of {VECTOR_BYTES}, as vector loads need"
            )
        allocation = wrap_pages(device, source)
    return new_handle(
        allocation,
        address - <uintptr_t>allocation.base,
        length,
        code,
        dimensions,
        read_only or allocation.copied,
    )


cdef Allocation wrap_pages(Device device, Export source):
    cdef Allocation allocation = new_allocation()
    cdef size_t page = device.info.page_size
    cdef size_t begin = <uintptr_t>source.held.view.buf
    cdef size_t end = begin + source.held.view.len
    cdef size_t first = begin - begin % page
    cdef size_t length = (end - first + page - 1) // page * page
    cdef held_buffer *held = source.held
    cdef fm_error error
    cdef fm_status status
    memset(&error, 0, sizeof(error))
    with nogil:
        status = buffer_wrap(
            device.handle, <void *>first, length, release_later, held, &allocation.handle, &error
        )
    if status == FM_ALLOCATION_FAILED:
        error_clear(&error)
        raise BufferAllocationError(
            length, f"Metal does not take the pages of the memory at {begin:#x}; {WAYS_OUT}"
        )
    check(status, &error, NULL)
    source.held = NULL
    finish(allocation, device, begin - first, end - first)
    return allocation


cdef object refusal(size_t address, str rule):
    return InvalidArgument(
        f"wrap: memory at {address:#x} cannot be used in place: {rule}; {WAYS_OUT}"
    )
