"""What the machine does at most, timed as if it were another way to compute a problem."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from flashmetal import _host
from flashmetal.bench.timing import Case

__all__ = ["multiply_adds", "reads"]


def reads(memory_bytes: int, threads: int) -> Case:
    """Give the time to read so much memory once, when it is read again and again."""
    memory = np.ones(memory_bytes, np.uint8)
    return _timed(memory_bytes, lambda: 1e9 * _host.read_rate(memory, threads))


def multiply_adds(operations: int, threads: int) -> Case:
    """Give the time of so many floating-point operations in f32 multiply-adds."""
    return _timed(operations, lambda: 1e9 * _host.multiply_adds(threads))


def _timed(amount: int, rate: Callable[[], float]) -> Case:
    return Case(lambda: [amount / rate()])
