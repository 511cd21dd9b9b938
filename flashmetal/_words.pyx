"""What the parameter structs of the kernels share: checked fields, and 32-bit words as bytes."""

cimport cython
from cpython.bytes cimport PyBytes_FromStringAndSize
from libc.math cimport INFINITY, isfinite, sqrt
from libc.stdint cimport uint32_t
from libc.string cimport memcpy

from flashmetal._argument cimport raise_pending
from flashmetal._integer cimport quick_integer

from flashmetal.errors import InvalidArgument, InvalidType


cdef uint32_t to_scale_bits(object scale, uint32_t head_dim, str subject) except? 0:
    if scale is None:
        return default_scale_bits(head_dim)
    cdef double number = INFINITY
    cdef type error = InvalidArgument
    try:
        number = scale
    except TypeError:
        error = InvalidType
    except OverflowError:
        pass
    if not isfinite(<float>number):
        raise error(f"{subject}: scale must be a finite f32, got {scale!r}")
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


cdef int refuse_buffer(str subject) except -1:
    try:
        raise_pending()
    except (BufferError, TypeError, ValueError) as error:
        raise InvalidArgument(
            f"{subject}: pack_into needs a writable, contiguous buffer: {error}"
        ) from error
    return 0


cdef Py_ssize_t find_place(const Py_buffer *view, Py_ssize_t size, object offset,
                           str subject) except -1:
    if view.len < size:
        raise InvalidArgument(f"{subject}: pack_into needs {size} bytes, got {view.len}")
    return quick_integer(offset, 0, view.len - size, subject, "pack_into offset")
