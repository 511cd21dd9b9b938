"""Use of existing memory as a buffer, in place.

Metal takes whole pages, so the pages that enclose the object's bytes become the Metal buffer, and
the handle is the window on the object's own bytes. What else lies on those pages is neither read
nor written: kernels stay inside the handle, and two objects on one page each get a Metal buffer.
"""

from cpython.buffer cimport PyBuffer_IsContiguous, PyBuffer_ToContiguous, Py_buffer
from libc.stdint cimport uintptr_t

from flashmetal cimport _device
from flashmetal._argument cimport need_truth
from flashmetal._bridge cimport (
    FM_ALLOCATION_FAILED,
    buffer_limit,
    buffer_track_with,
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
    allocate,
    finish,
    new_allocation,
    new_handle,
)
from flashmetal._device cimport Device
from flashmetal._exporter cimport drain, held_memory, is_small, let_go, release_later
from flashmetal._live cimport ANY_DEVICE, LiveRange, find_live
from flashmetal._source cimport Source, open_source

from flashmetal.errors import BufferAllocationError, InvalidArgument, InvalidType

__all__ = []

cdef enum:
    VECTOR_BYTES = 16  # the widest load of a kernel

cdef str WAYS_OUT = (
    "write into a buffer from dev.alloc(shape, dtype) in its place, or allow a copy with copy=None"
)


cdef object wrap(Device device, object obj, object copy, object strict):
    cdef Source source
    check_not_forked()
    drain()
    if copy is not False and copy is not None and copy is not True:
        raise InvalidType(f"wrap: copy must be False, None or True, got {copy!r}")
    cdef bint whole_pages = need_truth(strict, "wrap", "strict")
    open_source(&source, obj, "wrap: obj")
    try:
        if copy is False:
            return in_place(device, &source, whole_pages)
        return in_place_or_copy(device, &source, copy, whole_pages)
    finally:
        if source.held != NULL:
            let_go(source.held)


_device.wrap_function = wrap


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
    cdef Allocation allocation
    if not is_contiguous(view):
        raise refusal(address, "its elements are not C-contiguous")
    if strict:
        check_whole_pages(device, address, length)
    allocation = find_or_wrap(device, source, address, address + length)
    return new_handle(
        allocation,
        address - <uintptr_t>allocation.base,
        length,
        source.code,
        source.shape,
        source.axis_count,
        read_only or allocation.copied,
    )


cdef Allocation find_or_wrap(Device device, Source *source, uintptr_t begin, uintptr_t end):
    cdef Allocation known
    cdef Allocation wrapped
    # Most memory is no buffer's of any device, which one search tells.
    cdef LiveRange *live = find_live(begin, end, ANY_DEVICE)
    if live == NULL:
        return wrap_pages(device, source)
    known = <Allocation>live.allocation
    live = find_live(begin, end, device.registry_id)
    if live != NULL:
        return <Allocation>live.allocation
    wrapped = wrap_pages(device, source)
    # The other device's may be a cache's, which asks who is reading. Others ran meanwhile.
    if known.handle != NULL:
        buffer_track_with(wrapped.handle, known.handle)
    return wrapped


cdef bint is_contiguous(const Py_buffer *view) noexcept:
    # Python's own answer to the simplest case takes longer.
    if view.ndim == 1 and view.suboffsets == NULL and view.strides != NULL and (
        view.strides[0] == view.itemsize
    ):
        return True
    return PyBuffer_IsContiguous(<Py_buffer *>view, b"C")


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
    buffer_limit(allocation.handle, end - first)
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
