"""Buffers: typed handles on memory that CPU and GPU share.

An `Allocation` is one Metal buffer; a `Buffer` is a window on it with a dtype and a shape. Windows
keep their allocation, and command buffers keep Metal's buffer, until they are done with it.
"""

from cpython.buffer cimport (
    PyBUF_F_CONTIGUOUS,
    PyBUF_FORMAT,
    PyBUF_ND,
    PyBUF_STRIDES,
    PyBUF_WRITABLE,
    Py_buffer,
)
from cpython.mem cimport PyMem_Free, PyMem_Malloc
from cpython.number cimport PyIndex_Check
from libc.stdint cimport INT64_MAX, uintptr_t
from libc.string cimport memset

cimport cython

from flashmetal._bridge cimport (
    FM_ALLOCATION_FAILED,
    buffer_contents,
    buffer_create,
    buffer_length,
    buffer_release,
    check,
    check_not_forked,
    error_clear,
    fm_buffer,
    fm_error,
    fm_status,
)
from flashmetal._device cimport Device
from flashmetal._exporter cimport drain
from flashmetal._integer cimport to_integer

import numpy as np

from flashmetal.dtype import DTYPES, name_of, numpy_dtype
from flashmetal.errors import BufferAllocationError, InvalidArgument, InvalidState

__all__ = ["Allocation", "Buffer", "alloc"]

cdef object KEY = object()  # without it, nobody makes objects that have no memory

cdef dict CODE_OF_NAME = {
    "f32": F32, "f16": F16, "bf16": BF16, "u8": U8, "u16": U16, "u32": U32, "i32": I32,
}
cdef str RELEASED = "is released: its memory is given back"
cdef dict NAME_OF_CODE = {code: name for name, code in CODE_OF_NAME.items()}
cdef size_t SIZES[7]
cdef list FORMAT_TEXTS = [None] * 7  # keeps what FORMATS points to
cdef char *FORMATS[7]

cdef enum:
    MOST_DIMENSIONS = 64  # of the buffer protocol

cdef void *newest = NULL  # of the live allocations; borrowed
cdef size_t release_count = 0


cdef int fill_tables() except -1:
    for name, code in CODE_OF_NAME.items():
        SIZES[code] = DTYPES[name].size
        FORMAT_TEXTS[code] = DTYPES[name].format.encode()
        FORMATS[code] = FORMAT_TEXTS[code]
    return 0


fill_tables()


def alloc(Device device not None, shape, dtype):
    """Allocate a buffer of zeros; `Device.alloc` describes it."""
    check_not_forked()
    drain()
    cdef DTypeCode code = dtype_code(dtype)
    cdef tuple dimensions = to_dimensions(shape, "alloc")
    size = count_bytes(dimensions, code)
    return new_handle(allocate(device, size), 0, size, code, dimensions, False)


@cython.final
@cython.no_gc_clear
cdef class Allocation:
    """One Metal buffer, which all handles on it share."""

    def __cinit__(self, key=None):
        if key is not KEY:
            raise InvalidArgument("allocations are made by Device.alloc and Device.wrap")

    def __dealloc__(self):
        give_back(self)
        drain()


cdef class Buffer:
    """A typed window on memory that CPU and GPU share.

    It exports the buffer protocol, C-contiguous: `numpy.asarray(buffer)` is a view of the memory.
    Buffers are made by `Device.alloc`, `Device.wrap` and `Buffer.view`.
    """

    def __cinit__(self, key=None):
        if key is not KEY:
            raise InvalidArgument("buffers are made by Device.alloc, Device.wrap and Buffer.view")

    def __len__(self):
        if not self.dimensions:
            raise TypeError("a buffer of shape () has no len()")
        return self.dimensions[0]

    def __repr__(self):
        return (
            f"Buffer(shape={self.shape}, dtype={self.dtype}, byte_offset={self.offset}, "
            f"read_only={self.read_only})"
        )

    def __getbuffer__(self, Py_buffer *view, int flags):
        if self.allocation.base == NULL:
            raise BufferError(f"the buffer {RELEASED}")
        if flags & PyBUF_WRITABLE and self.is_read_only:
            raise BufferError("the buffer is read-only")
        if (flags & PyBUF_F_CONTIGUOUS) == PyBUF_F_CONTIGUOUS and count_long_axes(self) > 1:
            raise BufferError("the buffer is C-contiguous, not Fortran-contiguous")
        cdef Py_ssize_t *extents = make_extents(self)
        view.obj = self
        view.buf = self.allocation.base + self.offset
        view.len = self.data_length
        view.itemsize = dtype_size(self.dtype_code)
        view.readonly = self.is_read_only
        view.format = FORMATS[<int>self.dtype_code] if flags & PyBUF_FORMAT else NULL
        view.ndim = len(self.dimensions) if flags & PyBUF_ND else 1
        view.shape = extents if flags & PyBUF_ND else NULL
        view.strides = NULL
        if (flags & PyBUF_STRIDES) == PyBUF_STRIDES:
            view.strides = extents + len(self.dimensions)
        view.suboffsets = NULL
        view.internal = extents
        self.allocation.exports += 1

    def __releasebuffer__(self, Py_buffer *view):
        self.allocation.exports -= 1
        PyMem_Free(view.internal)

    @property
    def __array_struct__(self):
        # NumPy asks for it when the buffer protocol has failed, whose error it drops: it would make
        # an array of one object.
        require_live(self.allocation, "the buffer")
        raise AttributeError("__array_struct__")

    def view(self, offset_bytes, shape, dtype):
        """Give another handle on part of this buffer's memory.

        Parameters
        ----------
        offset_bytes : int
            From this handle's first byte.
        shape : int or sequence of int
            Elements along each axis.
        dtype : str or NumPy dtype
            The element type.

        Returns
        -------
        Buffer

        Raises
        ------
        InvalidArgument
            Part of it would be outside this handle, or a dimension is no integer or is negative.
        UnsupportedDtype
            Another element type.
        """
        cdef DTypeCode code = dtype_code(dtype)
        cdef tuple dimensions = to_dimensions(shape, "view")
        cdef size_t start = to_integer(offset_bytes, 0, INT64_MAX, "view", "offset_bytes")
        require_live(self.allocation, "the buffer")
        size = count_bytes(dimensions, code)
        if start + size > self.data_length:
            raise InvalidArgument(
                f"view: bytes {start} to {start + size} are not inside the buffer's "
                f"{self.data_length} bytes"
            )
        return new_handle(
            self.allocation, self.offset + start, size, code, dimensions, self.is_read_only
        )

    def numpy(self):
        """Give the memory as a NumPy array, not copied.

        Raises
        ------
        UnsupportedDtype
            The buffer is bf16 and the package ml_dtypes is not installed.
        """
        array = np.asarray(self)
        return array.view(numpy_dtype("bf16")) if self.dtype_code == BF16 else array

    def release(self):
        """Give the memory back now, for all handles on this allocation.

        Command buffers that use it keep it until they have completed. A handle that is released
        cannot be read, viewed or dispatched with any more, and a plan that binds one cannot be
        encoded. Releasing it again does nothing.

        Raises
        ------
        InvalidState
            An array or memoryview of the memory is still there, or another thread is encoding a
            dispatch that binds it.
        """
        release(self.allocation)

    @property
    def released(self):
        """Whether the memory was given back with `release`."""
        return self.allocation.handle == NULL

    @property
    def dtype(self):
        """The name of the element type."""
        return dtype_name(self.dtype_code)

    @property
    def shape(self):
        """Elements along each axis."""
        return self.dimensions

    @property
    def ndim(self):
        """Axes."""
        return len(self.dimensions)

    @property
    def element_count(self):
        """Elements of this handle."""
        return self.data_length // dtype_size(self.dtype_code)

    @property
    def nbytes(self):
        """Bytes of this handle, as `data_byte_len`."""
        return self.data_length

    @property
    def data_byte_len(self):
        """Logical bytes of this handle."""
        return self.data_length

    @property
    def byte_len(self):
        """Bytes of the whole allocation."""
        return self.allocation.length

    @property
    def byte_offset(self):
        """Where this handle starts in the allocation, in bytes."""
        return self.offset

    @property
    def address(self):
        """Where its first byte is in this process's memory."""
        require_live(self.allocation, "the buffer")
        return <uintptr_t>(self.allocation.base + self.offset)

    @property
    def read_only(self):
        """Whether kernels and the CPU may only read it: read-only memory, or a copy."""
        return self.is_read_only

    @property
    def device(self):
        """The device it belongs to."""
        return self.allocation.device


cdef size_t dtype_size(DTypeCode code) noexcept nogil:
    return SIZES[<int>code]


cdef str dtype_name(DTypeCode code):
    return NAME_OF_CODE[code]


cdef DTypeCode dtype_code(object dtype) except *:
    found = CODE_OF_NAME.get(dtype) if type(dtype) is str else None
    return CODE_OF_NAME[name_of(dtype)] if found is None else found


cdef tuple to_dimensions(object shape, str caller):
    if PyIndex_Check(shape):
        shape = (shape,)
    try:
        dimensions = tuple([
            to_integer(dimension, 0, INT64_MAX, caller, "a dimension of shape")
            for dimension in shape
        ])
    except TypeError:
        raise InvalidArgument(
            f"{caller}: shape must be an integer or a sequence of integers, got {shape!r}"
        ) from None
    if len(dimensions) > MOST_DIMENSIONS:
        raise InvalidArgument(
            f"{caller}: shape must have at most {MOST_DIMENSIONS} dimensions, got {len(dimensions)}"
        )
    return dimensions


cdef object count_bytes(tuple dimensions, DTypeCode code):
    # Python's integers do not overflow.
    size = <object>dtype_size(code)
    for dimension in dimensions:
        size *= dimension
    if size == 0:
        raise InvalidArgument("Buffer byte length must be > 0")
    return size


cdef Allocation new_allocation():
    return Allocation.__new__(Allocation, KEY)


cdef Allocation allocate(Device device, object size):
    cdef Allocation allocation = new_allocation()
    cdef fm_error error
    cdef fm_status status
    cdef size_t length
    if size > INT64_MAX:
        raise BufferAllocationError(size)
    length = size
    memset(&error, 0, sizeof(error))
    with nogil:
        status = buffer_create(device.handle, length, &allocation.handle, &error)
    if status == FM_ALLOCATION_FAILED:
        error_clear(&error)
        raise BufferAllocationError(size)
    check(status, &error, NULL)
    finish(allocation, device, 0, length)
    return allocation


cdef void finish(Allocation allocation, Device device, size_t begin, size_t end) noexcept:
    allocation.device = device
    allocation.base = <char *>buffer_contents(allocation.handle)
    allocation.length = buffer_length(allocation.handle)
    allocation.begin = begin
    allocation.end = end
    enter_live(allocation)


cdef Buffer new_handle(Allocation allocation, size_t offset, size_t data_length, DTypeCode code,
                       tuple dimensions, bint read_only):
    cdef Buffer buffer = Buffer.__new__(Buffer, KEY)
    buffer.allocation = allocation
    buffer.offset = offset
    buffer.data_length = data_length
    buffer.dtype_code = code
    buffer.dimensions = dimensions
    buffer.is_read_only = read_only
    return buffer


cdef int release(Allocation allocation) except -1:
    global release_count
    if allocation.handle == NULL:
        return 0
    if allocation.exports:
        raise InvalidState(
            f"the buffer's memory has {allocation.exports} users (arrays, memoryviews, a dispatch "
            "that another thread is encoding): drop them before it is released"
        )
    release_count += 1
    give_back(allocation)
    drain()
    return 0


cdef void give_back(Allocation allocation) noexcept:
    cdef fm_buffer *handle = allocation.handle
    if handle == NULL:
        return
    leave_live(allocation)
    allocation.handle = NULL
    allocation.base = NULL
    with nogil:
        buffer_release(handle)


cdef int require_live(Allocation allocation, str what) except -1:
    if allocation.handle == NULL:
        raise InvalidState(f"{what} {RELEASED}")
    return 0


# ---- live allocations: a list through the objects, newest first, guarded by the GIL -------------

cdef void enter_live(Allocation allocation) noexcept:
    global newest
    allocation.older = newest
    if newest != NULL:
        (<Allocation>newest).newer = <void *>allocation
    newest = <void *>allocation


cdef void leave_live(Allocation allocation) noexcept:
    global newest
    if allocation.newer != NULL:
        (<Allocation>allocation.newer).older = allocation.older
    elif newest == <void *>allocation:
        newest = allocation.older
    if allocation.older != NULL:
        (<Allocation>allocation.older).newer = allocation.newer


cdef Allocation find_live(Device device, const char *first, size_t size):
    cdef void *entry = newest
    cdef Allocation allocation
    while entry != NULL:
        allocation = <Allocation>entry
        if (
            <uintptr_t>first >= <uintptr_t>allocation.base + allocation.begin
            and <uintptr_t>first + size <= <uintptr_t>allocation.base + allocation.end
            and allocation.device.registry_id == device.registry_id
        ):
            return allocation
        entry = allocation.older
    return None


# ---- the buffer protocol ------------------------------------------------------------------------

cdef Py_ssize_t *make_extents(Buffer buffer) except NULL:
    # Shape, then C-contiguous strides; freed with the view.
    cdef Py_ssize_t ndim = len(buffer.dimensions)
    cdef Py_ssize_t stride = dtype_size(buffer.dtype_code)
    cdef Py_ssize_t *extents = <Py_ssize_t *>PyMem_Malloc(2 * max(ndim, 1) * sizeof(Py_ssize_t))
    if extents == NULL:
        raise MemoryError
    for axis in range(ndim - 1, -1, -1):
        extents[axis] = buffer.dimensions[axis]
        extents[ndim + axis] = stride
        stride *= extents[axis]
    return extents


cdef Py_ssize_t count_long_axes(Buffer buffer):
    return sum([length > 1 for length in buffer.dimensions])
