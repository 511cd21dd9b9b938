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
from cpython.bytes cimport PyBytes_AS_STRING
from cpython.number cimport PyIndex_Check
from cpython.sequence cimport PySequence_Check
from libc.stdint cimport INT64_MAX, uintptr_t
from libc.string cimport memcpy, memset

cimport cython

from flashmetal cimport _device
from flashmetal._argument cimport need_truth, raise_pending
from flashmetal._bridge cimport (
    FM_ALLOCATION_FAILED,
    buffer_contents,
    buffer_create,
    buffer_length,
    check,
    check_not_forked,
    error_clear,
    fm_buffer,
    fm_error,
    fm_status,
)
from flashmetal._device cimport Device
from flashmetal._dlpack cimport to_capsule
from flashmetal._exporter cimport MOST_DIMENSIONS, drain, held_memory, hold, release_buffer
from flashmetal._integer cimport to_integer
from flashmetal._live cimport enter_live, leave_live

import numpy as np

from flashmetal._text import counted
from flashmetal.dtype import DTYPES, NAME_OF_FORMAT, name_of, numpy_dtype
from flashmetal.errors import BufferAllocationError, InvalidArgument, InvalidState

__all__ = ["Allocation", "Buffer"]

cdef bint is_expected = False  # nobody else makes objects that have no memory

cdef dict CODE_OF_NAME = {
    "f32": F32, "f16": F16, "bf16": BF16, "u8": U8, "u16": U16, "u32": U32, "i32": I32,
}
cdef tuple CPU_DEVICE = (1, 0)  # DLPack's
cdef str RELEASED = "is released: its memory is given back"
cdef dict NAME_OF_CODE = {code: name for name, code in CODE_OF_NAME.items()}
cdef size_t SIZES[7]
cdef list FORMAT_TEXTS = [None] * 7  # keeps what FORMATS points to
cdef char *FORMATS[7]
cdef int CODE_OF_LETTER[128]

cdef size_t release_count = 0


cdef int fill_tables() except -1:
    for name, code in CODE_OF_NAME.items():
        SIZES[code] = DTYPES[name].size
        FORMAT_TEXTS[code] = DTYPES[name].format.encode()
        FORMATS[code] = FORMAT_TEXTS[code]
    memset(CODE_OF_LETTER, 0xFF, sizeof(CODE_OF_LETTER))
    for (letter, _), name in NAME_OF_FORMAT.items():
        CODE_OF_LETTER[<int>ord(letter)] = CODE_OF_NAME[name]
    return 0


fill_tables()


cdef object alloc(Device device, object shape, object dtype):
    check_not_forked()
    drain()
    cdef DTypeCode code = dtype_code(dtype)
    cdef tuple dimensions = to_dimensions(shape, "alloc")
    size = count_bytes(dimensions, code)
    return handle_of_shape(allocate(device, size), 0, size, code, dimensions, False)


_device.alloc_function = alloc


# Neither can be part of a cycle: they refer to C's memory and to a device.
@cython.final
@cython.no_gc
@cython.freelist(16)
cdef class Allocation:
    """One Metal buffer, which all handles on it share."""

    def __cinit__(self, *_):
        if not is_expected:
            raise InvalidArgument("allocations are made by Device.alloc and Device.wrap")

    def __dealloc__(self):
        give_back(self)


@cython.no_gc
@cython.freelist(16)
cdef class Buffer:
    """A typed window on memory that CPU and GPU share.

    It exports the buffer protocol, C-contiguous: `numpy.asarray(buffer)` is a view of the memory.
    Buffers are made by `Device.alloc`, `Device.wrap` and `Buffer.view`.
    """

    def __cinit__(self, *_):
        if not is_expected:
            raise InvalidArgument("buffers are made by Device.alloc, Device.wrap and Buffer.view")

    def __len__(self):
        if self.axis_count == 0:
            raise TypeError("a buffer of shape () has no len()")
        return self.extents[0]

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
        view.obj = self
        view.buf = self.allocation.base + self.offset
        view.len = self.data_length
        view.itemsize = dtype_size(self.dtype_code)
        view.readonly = self.is_read_only
        view.format = FORMATS[<int>self.dtype_code] if flags & PyBUF_FORMAT else NULL
        view.ndim = self.axis_count if flags & PyBUF_ND else 1
        view.shape = self.extents if flags & PyBUF_ND else NULL
        view.strides = NULL
        if (flags & PyBUF_STRIDES) == PyBUF_STRIDES:
            view.strides = self.extents + self.axis_count
        view.suboffsets = NULL
        view.internal = NULL
        self.allocation.exports += 1

    def __releasebuffer__(self, Py_buffer *view):
        self.allocation.exports -= 1

    @property
    def __array_struct__(self):
        # NumPy asks for it when the buffer protocol has failed, whose error it drops: it would make
        # an array of one object.
        require_live(self.allocation, "the buffer")
        raise AttributeError("__array_struct__")

    def __dlpack__(self, *, stream=None, max_version=None, dl_device=None, copy=None):
        """Give a capsule for another library's `from_dlpack`: the memory itself.

        Raises
        ------
        BufferError
            It is read-only and the consumer knows no DLPack 1.0, which can say so; it is released;
            or another device or a stream is asked for.
        InvalidArgument
            max_version is no pair of integers, or copy neither None nor True or False.
        """
        cdef Buffer source = self
        cdef held_memory *held
        cdef bint versioned = knows_versions(max_version)
        cdef bint copies = copy is not None and need_truth(copy, "__dlpack__", "copy")
        # An array would compare itself element by element.
        cdef bint here = dl_device is None or (
            isinstance(dl_device, tuple) and dl_device == CPU_DEVICE
        )
        if stream is not None or not here:
            raise BufferError(
                "a buffer's memory is on the CPU: stream must be None and dl_device "
                f"{CPU_DEVICE}, got {stream!r} and {dl_device!r}"
            )
        if copies:
            source = copied(self)
        if source.is_read_only and not versioned:
            raise BufferError("read-only memory needs DLPack 1.0: ask with max_version=(1, 0)")
        held = hold(source)
        if held == NULL:
            raise_pending()
        dtype = DTYPES[dtype_name(source.dtype_code)]
        return to_capsule(held, dtype.dlpack, dtype.size * 8, versioned, source is not self)

    def __dlpack_device__(self):
        """Say where the memory lies, for DLPack: kDLCPU, 0."""
        return CPU_DEVICE

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
        return handle_of_shape(
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
        return tuple([self.extents[axis] for axis in range(self.axis_count)])

    @property
    def ndim(self):
        """Axes."""
        return self.axis_count

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


cdef bint knows_versions(object version) except -1:
    if version is None:
        return False
    if not isinstance(version, tuple) or len(version) != 2:
        raise InvalidArgument(
            f"__dlpack__: max_version must be None or (major, minor), got {version!r}"
        )
    return to_integer(version[0], 0, INT64_MAX, "__dlpack__", "max_version's major") >= 1


cdef Buffer copied(Buffer source):
    cdef Allocation allocation
    require_live(source.allocation, "the buffer")
    allocation = allocate(source.allocation.device, source.data_length)
    memcpy(allocation.base, source.allocation.base + source.offset, source.data_length)
    return new_handle(allocation, 0, source.data_length, source.dtype_code, source.extents,
                      source.axis_count, False)


cdef size_t dtype_size(DTypeCode code) noexcept nogil:
    return SIZES[<int>code]


cdef str dtype_name(DTypeCode code):
    return NAME_OF_CODE[code]


cdef DTypeCode dtype_code(object dtype) except *:
    found = CODE_OF_NAME.get(dtype) if type(dtype) is str else None
    return CODE_OF_NAME[name_of(dtype)] if found is None else found


cdef int code_of_letter(const char *format, Py_ssize_t itemsize) noexcept:
    cdef unsigned char letter = <unsigned char>format[0] if format != NULL else 0
    cdef int code
    if letter >= 128 or letter == 0 or format[1] != 0:
        return -1
    code = CODE_OF_LETTER[letter]
    return code if code >= 0 and <Py_ssize_t>SIZES[code] == itemsize else -1


cdef tuple to_dimensions(object shape, str caller):
    if PyIndex_Check(shape):
        shape = (shape,)
    # Bytes are a sequence of integers, but of no dimensions.
    if not PySequence_Check(shape) or isinstance(shape, (bytes, bytearray, memoryview, dict)):
        raise not_a_shape(shape, caller)
    try:
        dimensions = tuple([
            to_integer(dimension, 0, INT64_MAX, caller, "a dimension of shape")
            for dimension in shape
        ])
    except TypeError:
        raise not_a_shape(shape, caller) from None
    if len(dimensions) > MOST_DIMENSIONS:
        raise InvalidArgument(
            f"{caller}: shape must have at most {MOST_DIMENSIONS} dimensions, got {len(dimensions)}"
        )
    return dimensions


cdef object not_a_shape(object shape, str caller):
    return InvalidArgument(
        f"{caller}: shape must be an integer or a sequence of integers, got {shape!r}"
    )


cdef object count_bytes(tuple dimensions, DTypeCode code):
    # Python's integers do not overflow.
    size = <object>dtype_size(code)
    for dimension in dimensions:
        size *= dimension
    if size == 0:
        raise InvalidArgument("Buffer byte length must be > 0")
    return size


cdef Allocation new_allocation():
    global is_expected
    is_expected = True
    try:
        return Allocation.__new__(Allocation)
    finally:
        is_expected = False


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
    allocation.own.begin = <uintptr_t>allocation.base + begin
    allocation.own.end = <uintptr_t>allocation.base + end
    allocation.own.device = device.registry_id
    allocation.own.allocation = <void *>allocation
    enter_live(&allocation.own)


cdef Buffer new_handle(Allocation allocation, size_t offset, size_t data_length, DTypeCode code,
                       const Py_ssize_t *shape, int axis_count, bint read_only):
    cdef Buffer buffer = new_window(allocation, offset, data_length, code, axis_count, read_only)
    for axis in range(axis_count):
        buffer.extents[axis] = shape[axis]
    fill_strides(buffer)
    return buffer


cdef Buffer handle_of_shape(Allocation allocation, size_t offset, size_t data_length,
                            DTypeCode code, tuple shape, bint read_only):
    cdef Buffer buffer = new_window(allocation, offset, data_length, code, len(shape), read_only)
    for axis in range(buffer.axis_count):
        buffer.extents[axis] = shape[axis]
    fill_strides(buffer)
    return buffer


# Its extents are the caller's to fill.
cdef Buffer new_window(Allocation allocation, size_t offset, size_t data_length, DTypeCode code,
                       int axis_count, bint read_only):
    cdef Buffer buffer = new_empty()
    buffer.allocation = allocation
    buffer.offset = offset
    buffer.data_length = data_length
    buffer.dtype_code = code
    buffer.axis_count = axis_count
    buffer.is_read_only = read_only
    buffer.extents = buffer.near
    if axis_count > NEAR_AXES:
        buffer.far = bytes(2 * axis_count * sizeof(Py_ssize_t))
        buffer.extents = <Py_ssize_t *>PyBytes_AS_STRING(buffer.far)
    return buffer


cdef Buffer new_empty():
    global is_expected
    is_expected = True
    try:
        return Buffer.__new__(Buffer)
    finally:
        is_expected = False


cdef void fill_strides(Buffer buffer) noexcept:
    cdef Py_ssize_t *strides = buffer.extents + buffer.axis_count
    cdef Py_ssize_t stride = dtype_size(buffer.dtype_code)
    cdef int axis
    for axis in range(buffer.axis_count - 1, -1, -1):
        strides[axis] = stride
        stride *= buffer.extents[axis]


cdef int release(Allocation allocation) except -1:
    global release_count
    if allocation.handle == NULL:
        return 0
    if allocation.exports:
        raise InvalidState(
            f"the buffer's memory has {counted(allocation.exports, 'user')} (arrays, memoryviews, "
            "a dispatch that another thread is encoding), to be dropped before it is released"
        )
    release_count += 1
    give_back(allocation)
    return 0


cdef void give_back(Allocation allocation) noexcept:
    cdef fm_buffer *handle = allocation.handle
    if handle == NULL:
        return
    leave_live(&allocation.own)
    allocation.handle = NULL
    allocation.base = NULL
    release_buffer(handle, allocation.length)


cdef int require_live(Allocation allocation, str what) except -1:
    if allocation.handle == NULL:
        raise InvalidState(f"{what} {RELEASED}")
    return 0


cdef int count_long_axes(Buffer buffer) noexcept:
    cdef int count = 0
    for axis in range(buffer.axis_count):
        count += buffer.extents[axis] > 1
    return count
