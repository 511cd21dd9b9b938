"""Checks that operations share. Python integers, so that no size or stride can overflow."""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

from .._buffer import Buffer
from .._pipeline import Pipeline
from ..dtype import DTYPES
from ..errors import InvalidArgument

__all__ = [
    "Region",
    "count_elems",
    "need_alignment",
    "need_buffer",
    "need_disjoint",
    "need_elems",
    "need_output",
    "need_params",
    "need_threads",
    "need_tile_classes",
]


class Region(NamedTuple):
    """The bytes of an argument that a kernel touches.

    Parameters
    ----------
    name
        Of the argument.
    buffer
        Where they are.
    offset
        Of the first of them in the buffer.
    start, end
        Addresses of the first of them and past the last; the same when there is none.
    """

    name: str
    buffer: Buffer
    offset: int
    start: int
    end: int


def count_elems(
    last_row: int, row_stride: int, last_head: int, head_stride: int, width: int
) -> int:
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


def need_params(op: str, params: object, kind: type) -> None:
    """Check the class of a parameter struct."""
    if not isinstance(params, kind):
        raise InvalidArgument(f"{op}: params must be {kind.__name__}, got {type(params).__name__}")


def need_buffer(op: str, name: str, buffer: Buffer) -> None:
    """Check that an argument is a Buffer."""
    if not isinstance(buffer, Buffer):
        raise InvalidArgument(
            f"{op}: {name} must be a Buffer, got {type(buffer).__name__}; "
            "device.wrap(array) makes one of an array"
        )


def need_elems(
    op: str, name: str, buffer: Buffer, dtype: str, count: int, offset: int = 0
) -> Region:
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
    offset
        Bytes into the buffer where it starts.

    Returns
    -------
    Region
        What the kernel touches.

    Raises
    ------
    InvalidArgument
        When it is not a Buffer, of another dtype, or too small.
    """
    need_buffer(op, name, buffer)
    if buffer.dtype != dtype:
        raise InvalidArgument(f"{op}: {name} must be {dtype}, got {buffer.dtype}")
    touched = count * DTYPES[dtype].size
    if buffer.data_byte_len < offset + touched:
        raise InvalidArgument(
            f"{op}: {name} holds {buffer.data_byte_len} bytes, the strides need {offset + touched}"
        )
    return _region(name, buffer, offset, touched)


def need_tile_classes(op: str, blk: Buffer, count: int, bq: int, bk: int) -> Region:
    """Check the buffer of a mask's tile classes: a byte for each of `count` tiles of bq by bk.

    Raises
    ------
    InvalidArgument
        When it is not a Buffer, of another dtype, or too small.
    """
    need_buffer(op, "blk", blk)
    if blk.dtype != "u8" or blk.data_byte_len < count:
        raise InvalidArgument(
            f"{op}: blk must be U8 with at least {count} bytes (bq {bq}, bk {bk}), "
            f"got {blk.dtype} {blk.data_byte_len} bytes"
        )
    return _region("blk", blk, 0, count)


def _region(name: str, buffer: Buffer, offset: int, size: int) -> Region:
    start = buffer.address + offset
    return Region(name, buffer, offset, start, start + size)


def need_alignment(op: str, region: Region, alignment: int) -> None:
    """Check that the offset that is bound suits the vector loads of a kernel."""
    bound = region.buffer.byte_offset + region.offset
    if bound % alignment:
        raise InvalidArgument(
            f"{op}: {region.name} offset {bound} is not a multiple of {alignment}"
        )


def need_disjoint(op: str, out: Region, others: Iterable[Region]) -> None:
    """Check that the output overlaps no input."""
    for other in others:
        if max(out.start, other.start) < min(out.end, other.end):
            raise InvalidArgument(f"{op}: {out.name} overlaps {other.name}")


def need_output(op: str, out: Region) -> None:
    """Check that the output may be written."""
    if out.buffer.read_only:
        raise InvalidArgument(f"{op}: {out.name} is read-only")


def need_threads(op: str, pipeline: Pipeline, threads: int) -> None:
    """Check that a pipeline takes threadgroups of this many threads."""
    if pipeline.max_threads < threads:
        raise InvalidArgument(
            f"{op}: {pipeline.name}: pipeline allows {pipeline.max_threads} threads per "
            f"threadgroup, needs {threads}"
        )
