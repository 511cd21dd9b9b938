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

from flashmetal cimport _device
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
    code_of_letter,
    dtype_code,
    finish,
    new_allocation,
    new_handle,
)
from flashmetal._device cimport Device
from flashmetal._dlpack cimport hold_tensor
from flashmetal._exporter cimport drain, held_memory, hold, is_small, let_go, release_later
from flashmetal._live cimport LiveRange, find_live

import numpy as np

from flashmetal.dtype import name_of, name_of_dlpack, name_of_format, without_bfloat16
from flashmetal.errors import BufferAllocationError, InvalidArgument, UnsupportedDtype

__all__ = []

cdef enum:
    VECTOR_BYTES = 16  # the widest load of a kernel

cdef str WAYS_OUT = (
    "write into a buffer from dev.alloc(shape, dtype) in its place, or allow a copy with copy=None"
)


# An object's memory: C order but for its strides.
cdef struct Source:
    held_memory *held    # owned; NULL once Metal has taken it over
    DTypeCode code
    Py_ssize_t length    # elements, where the exporter gives no shape
    const Py_ssize_t *shape
    int axis_count


cdef object wrap(Device device, object obj, object copy, object strict):
    cdef Source source
    check_not_forked()
    drain()
    if copy is not False and copy is not None and copy is not True:
        raise InvalidArgument(f"wrap: copy must be False, None or True, got {copy!r}")
    open_source(&source, obj)
    try:
        if copy is False:
            return in_place(device, &source, strict)
        return in_place_or_copy(device, &source, copy, strict)
    finally:
        if source.held != NULL:
            let_go(source.held)


_device.wrap_function = wrap


# ---- the object's memory ------------------------------------------------------------------------

cdef int open_source(Source *source, object obj) except -1:
    # No try statement where nothing is out of the ordinary: it costs as much as the rest.
    cdef const Py_buffer *view
    source.held = hold(obj)
    if source.held == NULL:
        return open_otherwise(source, obj)
    view = &source.held.view
    source.code = <DTypeCode>code_of_letter(view.format, view.itemsize)
    if <int>source.code < 0 or view.len == 0 or view.shape == NULL:
        return describe_or_let_go(source, obj, False)
    source.shape = view.shape
    source.axis_count = view.ndim
    return 0


cdef int open_otherwise(Source *source, object obj) except -1:
    try:
        raise_pending()
    except (BufferError, TypeError, ValueError) as error:
        if has_tensor(obj):
            return open_tensor(source, obj)
        exporter, is_bfloat16 = without_bfloat16(obj)
        if not is_bfloat16:
            raise refused_export(obj, error) from error
    source.held = hold(exporter)
    if source.held == NULL:
        raise_pending()
    return describe_or_let_go(source, obj, True)


cdef bint has_tensor(object obj):
    # NumPy's own refusals say more than those of its DLPack.
    return hasattr(obj, "__dlpack__") and not isinstance(obj, np.ndarray)


cdef int open_tensor(Source *source, object obj) except -1:
    cdef int code = 0
    cdef int bits = 0
    source.held = hold_tensor(obj, "wrap", &code, &bits)
    try:
        source.code = dtype_code(name_of_dlpack(code, bits))
        fill_shape(source)
    except BaseException:
        let_go(source.held)
        raise
    return 0


cdef int raise_pending() except -1:
    return -1


cdef int describe_or_let_go(Source *source, object obj, bint is_bfloat16) except -1:
    try:
        return describe(source, obj, is_bfloat16)
    except UnsupportedDtype:
        let_go(source.held)
        # Some libraries have formats of their own, but DLPack's types.
        if not has_tensor(obj):
            raise
    except BaseException:
        let_go(source.held)
        raise
    return open_tensor(source, obj)


cdef object refused_export(object obj, object error):
    if not PyObject_CheckBuffer(obj):
        return InvalidArgument(
            "wrap: obj must have the buffer protocol or DLPack, and "
            f"{type(obj).__name__} has neither; numpy.asarray makes an array of most objects"
        )
    # NumPy has no format for some of its types.
    if isinstance(obj, np.ndarray):
        name_of(obj.dtype)
    return InvalidArgument(f"wrap: {type(obj).__name__} does not export its memory: {error}")


cdef int describe(Source *source, object obj, bint is_bfloat16) except -1:
    cdef const Py_buffer *view = &source.held.view
    source.code = dtype_code("bf16" if is_bfloat16 else name_elements(obj, view))
    return fill_shape(source)


cdef int fill_shape(Source *source) except -1:
    cdef const Py_buffer *view = &source.held.view
    if view.len == 0:
        raise InvalidArgument("Buffer byte length must be > 0")
    source.axis_count = view.ndim
    source.shape = view.shape
    if view.ndim and view.shape == NULL:
        source.length = view.len // view.itemsize
        source.axis_count = 1
        source.shape = &source.length
    return 0


cdef str name_elements(object exporter, const Py_buffer *view):
    text = "B" if view.format == NULL else view.format.decode()
    try:
        return name_of_format(text, view.itemsize)
    except UnsupportedDtype:
        # An array's own spelling says more than a format.
        if isinstance(exporter, np.ndarray):
            name_of(exporter.dtype)
        raise


# ---- the buffer ---------------------------------------------------------------------------------

cdef Buffer in_place_or_copy(Device device, Source *source, object copy, bint strict):
    if copy is None:
        try:
            return in_place(device, source, strict)
        except (InvalidArgument, BufferAllocationError):
            pass
    return copy_of(device, source)


cdef Buffer copy_of(Device device, Source *source):
    cdef Py_buffer *view = &source.held.view
    cdef Allocation allocation = allocate(device, view.len)
    PyBuffer_ToContiguous(allocation.base, view, view.len, b"C")
    allocation.copied = True
    return new_handle(allocation, 0, view.len, source.code, source.shape, source.axis_count, True)


cdef Buffer in_place(Device device, Source *source, bint strict):
    cdef Py_buffer *view = &source.held.view
    cdef uintptr_t address = <uintptr_t>view.buf
    cdef size_t length = view.len
    cdef bint read_only = view.readonly
    cdef LiveRange *live
    cdef Allocation allocation
    if not PyBuffer_IsContiguous(view, b"C"):
        raise refusal(address, "its elements are not C-contiguous")
    if strict:
        check_whole_pages(device, address, length)
    live = find_live(address, address + length, device.registry_id)
    allocation = wrap_pages(device, source) if live == NULL else <Allocation>live.allocation
    return new_handle(
        allocation,
        address - <uintptr_t>allocation.base,
        length,
        source.code,
        source.shape,
        source.axis_count,
        read_only or allocation.copied,
    )


cdef int check_whole_pages(Device device, uintptr_t address, size_t length) except -1:
    cdef size_t page = device.info.page_size
    if address % page or length % page:
        raise refusal(
            address,
            f"strict takes whole pages of {page} bytes, and its {length} bytes start "
            f"{address % page} bytes into one",
        )
    return 0


cdef Allocation wrap_pages(Device device, Source *source):
    cdef Allocation allocation
    cdef size_t page = device.info.page_size
    cdef uintptr_t begin = <uintptr_t>source.held.view.buf
    cdef uintptr_t end = begin + source.held.view.len
    cdef uintptr_t first = begin & ~(page - 1)
    cdef size_t length = ((end + page - 1) & ~(page - 1)) - first
    if begin % VECTOR_BYTES:
        raise refusal(
            begin, f"the address is not a multiple of {VECTOR_BYTES}, as vector loads need"
        )
    allocation = new_allocation()
    make_buffer(device, allocation, <void *>first, length, source.held)
    source.held = NULL
    finish(allocation, device, begin - first, end - first)
    return allocation


cdef int make_buffer(Device device, Allocation allocation, void *pages, size_t length,
                     held_memory *held) except -1:
    cdef fm_error error
    cdef fm_status status
    error.message = NULL
    if is_small(length):
        status = buffer_wrap(device.handle, pages, length, release_later, held,
                             &allocation.handle, &error)
    else:
        with nogil:
            status = buffer_wrap(device.handle, pages, length, release_later, held,
                                 &allocation.handle, &error)
    if status == FM_ALLOCATION_FAILED:
        error_clear(&error)
        raise BufferAllocationError(
            length,
            f"Metal does not take the pages of the memory at {<uintptr_t>held.view.buf:#x}; "
            f"{WAYS_OUT}",
        )
    return check(status, &error, NULL)


cdef object refusal(uintptr_t address, str rule):
    return InvalidArgument(
        f"wrap: memory at {address:#x} cannot be used in place: {rule}; {WAYS_OUT}"
    )
