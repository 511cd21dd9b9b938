"""Checks that operations share. Python integers, so that no size or stride can overflow."""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

from .._buffer import Buffer
from ..dtype import DTYPES
from ..errors import InvalidArgument

__all__ = ["Layout", "Region", "need_alignment", "need_disjoint", "need_elems", "need_output"]


class Layout(NamedTuple):
    """Where the last element that a kernel touches lies, in elements.

    Parameters
    ----------
    last_row, row_stride
        Index of the last row, −1 when there is none, and elements from one row to the next.
    last_head, head_stride
        The same of the heads in a row.
    width
        Elements of a head.
    """

    last_row: int
    row_stride: int
    last_head: int
    head_stride: int
    width: int

    @property
    def element_count(self) -> int:
        """Elements from the first to the last one that is touched."""
        if self.last_row < 0:
            return 0
        return self.last_row * self.row_stride + self.last_head * self.head_stride + self.width


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
    size
        How many; may be 0.
    """

    name: str
    buffer: Buffer
    offset: int
    size: int

    @property
    def bound_offset(self) -> int:
        """Where the kernel's argument is bound in the allocation, in bytes."""
        return self.buffer.byte_offset + self.offset

    def overlaps(self, other: Region) -> bool:
        """Whether a byte belongs to both."""
        start = self.buffer.address + self.offset
        other_start = other.buffer.address + other.offset
        return max(start, other_start) < min(start + self.size, other_start + other.size)


def need_elems(
    op: str, name: str, buffer: Buffer, dtype: str, layout: Layout, offset: int = 0
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
    layout
        What the kernel touches.
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
    if not isinstance(buffer, Buffer):
        raise InvalidArgument(
            f"{op}: {name} must be a Buffer, got {type(buffer).__name__}; "
            "device.wrap(array) makes one of an array"
        )
    if buffer.dtype != dtype:
        raise InvalidArgument(f"{op}: {name} must be {dtype}, got {buffer.dtype}")
    touched = layout.element_count * DTYPES[dtype].size
    needed = offset + touched
    if buffer.data_byte_len < needed:
        raise InvalidArgument(
            f"{op}: {name} holds {buffer.data_byte_len} bytes, the strides need {needed}"
        )
    return Region(name, buffer, offset, touched)


def need_alignment(op: str, region: Region, alignment: int) -> None:
    """Check that a bound offset suits the vector loads of a kernel."""
    if region.bound_offset % alignment:
        raise InvalidArgument(
            f"{op}: {region.name} offset {region.bound_offset} is not a multiple of {alignment}"
        )


def need_disjoint(op: str, out: Region, others: Iterable[Region]) -> None:
    """Check that the output overlaps no input."""
    for other in others:
        if out.overlaps(other):
            raise InvalidArgument(f"{op}: {out.name} overlaps {other.name}")


def need_output(op: str, out: Region) -> None:
    """Check that the output may be written."""
    if out.buffer.read_only:
        raise InvalidArgument(f"{op}: {out.name} is read-only")
