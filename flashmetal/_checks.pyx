"""Checks that operations share, for those written in Cython and those written in Python.

No size or stride overflows: Python counts elements in its own integers, C in 64 bits that two
32-bit factors fit.
"""

from libc.stdint cimport UINT64_MAX, uint32_t, uint64_t, uintptr_t

from flashmetal._argument cimport need, need_truth
from flashmetal._buffer cimport Buffer, DTypeCode, dtype_code, dtype_name, dtype_size, require_live
from flashmetal._pipeline cimport Pipeline

from flashmetal.errors import InvalidArgument, InvalidType

__all__ = [
    "Region",
    "count_elems",
    "need_alignment",
    "need_buffer",
    "need_disjoint",
    "need_elems",
    "need_flag",
    "need_kind",
    "need_output",
    "need_threads",
    "need_tile_classes",
]

cdef object KEY = object()  # without it, nobody makes regions of nothing


# ---- for Cython ---------------------------------------------------------------------------------

cdef Buffer to_buffer(str op, str name, object argument):
    if not isinstance(argument, Buffer):
        raise InvalidType(
            f"{op}: {name} must be a Buffer, got {type(argument).__name__}; "
            "device.wrap(array) makes one of an array"
        )
    cdef Buffer buffer = argument
    if buffer.allocation.handle is NULL:
        require_live(buffer.allocation, f"{op}: {name}")
    return buffer


cdef int span_elems(Span *span, str op, str name, object argument, DTypeCode code, uint64_t count,
                    size_t offset) except -1:
    cdef Buffer buffer = to_buffer(op, name, argument)
    if buffer.dtype_code != code:
        raise InvalidArgument(
            f"{op}: {name} must be {dtype_name(code)}, got {dtype_name(buffer.dtype_code)}"
        )
    cdef size_t size = dtype_size(code)
    cdef size_t length = buffer.data_length
    # Compared first, a count cannot make the product overflow.
    if count > length or offset + count * size > length:
        raise too_small(op, name, length, <object>offset + <object>count * size)
    span_bytes(span, buffer, offset, count * size)
    return 0


cdef int check_alignment(str op, str name, const Span *span, size_t alignment) except -1:
    if span.bound & (alignment - 1):
        raise InvalidArgument(
            f"{op}: {name} offset {span.bound} is not a multiple of {alignment}"
        )
    return 0


cdef int check_disjoint(str op, str out_name, const Span *out, str name,
                        const Span *span) except -1:
    if max(out.start, span.start) < min(out.end, span.end):
        raise InvalidArgument(f"{op}: {out_name} overlaps {name}")
    return 0


cdef int check_output(str op, str name, Buffer out) except -1:
    if out.is_read_only:
        raise InvalidArgument(f"{op}: {name} is read-only")
    return 0


cdef int check_threads(str op, Pipeline pipeline, uint32_t threads) except -1:
    if pipeline.info.max_threads < threads:
        raise InvalidArgument(
            f"{op}: {pipeline.name}: pipeline allows {pipeline.info.max_threads} threads per "
            f"threadgroup, needs {threads}"
        )
    return 0


cdef void span_bytes(Span *span, Buffer buffer, size_t offset, size_t size) noexcept:
    span.bound = buffer.offset + offset
    span.start = <uintptr_t>(buffer.allocation.base + span.bound)
    span.end = span.start + size


cdef object too_small(str op, str name, size_t length, object needed):
    return InvalidArgument(f"{op}: {name} holds {length} bytes, the strides need {needed}")


# ---- for Python ---------------------------------------------------------------------------------

cdef class Region:
    """The bytes of an argument that a kernel touches.

    Attributes
    ----------
    name : str
        Of the argument.
    buffer : Buffer
        Where they are.
    """

    cdef readonly str name
    cdef readonly Buffer buffer
    cdef Span span

    def __cinit__(self, key=None):
        if key is not KEY:
            raise TypeError("regions are made by need_elems and need_tile_classes")


def count_elems(last_row, row_stride, last_head, head_stride, width):
    """Count the elements from the first to the last one that a kernel touches.

    Parameters
    ----------
    last_row, row_stride
        Index of the last row, −1 when there is none, and elements from one row to the next.
    last_head, head_stride
        The same of the heads in a row.
    width
        Elements of a head.
    """
    if last_row < 0:
        return 0
    return last_row * row_stride + last_head * head_stride + width


def need_kind(str op, str name, argument, type kind):
    """Check the class of an argument."""
    need(argument, kind, op, name)


def need_flag(str op, str name, argument):
    """Check that an argument is True or False, and return it."""
    return need_truth(argument, op, name)


def need_buffer(str op, str name, buffer):
    """Check that an argument is a Buffer."""
    to_buffer(op, name, buffer)


def need_elems(str op, str name, buffer, str dtype, count):
    """Check a buffer's dtype and size.

    Parameters
    ----------
    op, name
        The operation and its argument, for the error's text.
    buffer
        The argument.
    dtype
        What its dtype must be.
    count
        Elements from the first to the last one that the kernel touches: see `count_elems`.

    Returns
    -------
    Region
        What the kernel touches.

    Raises
    ------
    InvalidArgument
        When it is not a Buffer, of another dtype, or too small.
    """
    cdef DTypeCode code = dtype_code(dtype)
    cdef Region region = Region.__new__(Region, KEY)
    if count > UINT64_MAX:
        # Nothing holds as many; the text still names them.
        span_elems(&region.span, op, name, buffer, code, 0, 0)
        raise too_small(op, name, (<Buffer>buffer).data_length, count * dtype_size(code))
    span_elems(&region.span, op, name, buffer, code, count, 0)
    region.name = name
    region.buffer = buffer
    return region


def need_tile_classes(str op, blk, count, bq, bk):
    """Check the buffer of a mask's tile classes: a byte for each of `count` tiles of bq by bk.

    Returns
    -------
    Region
        What the kernel touches.

    Raises
    ------
    InvalidArgument
        When it is not a Buffer, of another dtype, or too small.
    """
    cdef Buffer buffer = to_buffer(op, "blk", blk)
    cdef Region region = Region.__new__(Region, KEY)
    if buffer.dtype != "u8" or buffer.data_length < count:
        raise InvalidArgument(
            f"{op}: blk must be U8 with at least {count} bytes (bq {bq}, bk {bk}), "
            f"got {buffer.dtype} {buffer.data_length} bytes"
        )
    span_bytes(&region.span, buffer, 0, count)
    region.name = "blk"
    region.buffer = buffer
    return region


def need_alignment(str op, Region region not None, size_t alignment):
    """Check that the offset that is bound suits the vector loads of a kernel."""
    check_alignment(op, region.name, &region.span, alignment)


def need_disjoint(str op, Region out not None, others):
    """Check that the output overlaps no input."""
    cdef Region other
    for other in others:
        check_disjoint(op, out.name, &out.span, other.name, &other.span)


def need_output(str op, Region out not None):
    """Check that the output may be written."""
    check_output(op, out.name, out.buffer)


def need_threads(str op, Pipeline pipeline not None, uint32_t threads):
    """Check that a pipeline takes threadgroups of this many threads."""
    check_threads(op, pipeline, threads)
