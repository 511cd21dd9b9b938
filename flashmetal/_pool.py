"""BufferPool: buffers that are used again instead of allocated again."""

from __future__ import annotations

import contextlib
import threading
from collections import defaultdict
from collections.abc import Callable, Iterator
from math import prod
from typing import TypeAlias

from ._buffer import Buffer
from ._device import Device
from .dtype import DTYPES

__all__ = ["BufferPool"]

SMALLEST = 1 << 12  # bytes of a buffer
MOST_KEPT = 1 << 28  # bytes of all idle buffers of a pool; Metal gets back what is more

Take: TypeAlias = Callable[[tuple[int, ...], str], Buffer]


class BufferPool:
    """Idle buffers of one device, by size. May be used from any thread.

    Parameters
    ----------
    device
        Where the buffers live.
    """

    def __init__(self, device: Device) -> None:
        self._device = device
        self._idle: dict[int, list[Buffer]] = defaultdict(list)
        self._kept = 0
        self._lock = threading.Lock()

    @contextlib.contextmanager
    def lend(self) -> Iterator[Take]:
        """Lend buffers for the length of a block, by whose end the device is done with them.

        Yields
        ------
        callable
            Takes a shape and a dtype, gives a Buffer of any contents.
        """
        taken: list[Buffer] = []

        def take(shape: tuple[int, ...], dtype: str) -> Buffer:
            taken.append(self._take(prod(shape) * DTYPES[dtype].size))
            return taken[-1].view(0, shape, dtype)

        yield take
        # Not after an error: the device may still be at work on them, and they are dropped.
        for buffer in taken:
            self._give(buffer)

    def _take(self, size: int) -> Buffer:
        # Powers of two: few sizes, each of them soon used again.
        rounded = max(SMALLEST, 1 << (size - 1).bit_length())
        with self._lock:
            if self._idle[rounded]:
                self._kept -= rounded
                return self._idle[rounded].pop()
        return self._device.alloc(rounded, "u8")

    def _give(self, buffer: Buffer) -> None:
        size = buffer.data_byte_len
        with self._lock:
            if self._kept + size <= MOST_KEPT:
                self._kept += size
                self._idle[size].append(buffer)
