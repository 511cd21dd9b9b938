"""What the parameter structs of the kernels share: checked fields, and 32-bit words as bytes."""

cimport cython
from cpython.buffer cimport PyBUF_WRITABLE, PyBuffer_Release, PyObject_GetBuffer
from cpython.bytes cimport PyBytes_FromStringAndSize
from libc.math cimport isfinite, sqrt
from libc.stdint cimport UINT32_MAX, uint32_t
from libc.string cimport memcpy

from flashmetal._integer cimport to_integer

from flashmetal.errors import InvalidArgument


cdef uint32_t to_u32(object value, str subject, str field) except? 0:
    return <uint32_t>to_integer(value, 0, UINT32_MAX, subject, field)


cdef uint32_t to_scale_bits(object scale, uint32_t head_dim, str subject) except? 0:
    if scale is None:
        return default_scale_bits(head_dim)
    cdef double number = 0
    cdef bint is_number = True
    try:
        number = scale
    except (TypeError, OverflowError):
        is_number = False
    if not is_number or not isfinite(<float>number):
        raise InvalidArgument(f"{subject}: scale must be a finite f32, got {scale!r}")
    return float_bits(<float>number)


@cython.cdivision(True)
cdef uint32_t default_scale_bits(uint32_t head_dim) noexcept:
    # Rounded once, from f64. An empty head gives infinity; no dispatch accepts one.
    return float_bits(<float>(1.0 / sqrt(<double>head_dim)))


cdef uint32_t float_bits(float value) noexcept:
    cdef uint32_t bits
    memcpy(&bits, &value, sizeof(bits))
    return bits


cdef float scale_of(uint32_t bits) noexcept:
    cdef float scale
    memcpy(&scale, &bits, sizeof(scale))
    return scale


cdef bytes to_bytes(const uint32_t *words, size_t count):
    return PyBytes_FromStringAndSize(<const char *>words, count * sizeof(uint32_t))


cdef int write_words(const uint32_t *words, size_t count, object buffer, object offset,
                     str subject) except -1:
    cdef Py_buffer view
    try:
        PyObject_GetBuffer(buffer, &view, PyBUF_WRITABLE)
    except (BufferError, TypeError, ValueError) as error:
        raise InvalidArgument(
            f"{subject}: pack_into needs a writable, contiguous buffer: {error}"
        ) from error
    try:
        write_at(words, count * sizeof(uint32_t), &view, offset, subject)
    finally:
        PyBuffer_Release(&view)
    return 0


cdef int write_at(const uint32_t *words, Py_ssize_t size, const Py_buffer *view, object offset,
                  str subject) except -1:
    if view.len < size:
        raise InvalidArgument(f"{subject}: pack_into needs {size} bytes, got {view.len}")
    cdef Py_ssize_t start = to_integer(offset, 0, view.len - size, subject, "pack_into offset")
    memcpy(<char *>view.buf + start, words, size)
    return 0
