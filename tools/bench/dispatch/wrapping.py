"""Memory handed over: arrays wrapped for the device, and buffers seen as arrays."""

from __future__ import annotations

import mmap
from itertools import repeat
from time import perf_counter

import numpy as np

from flashmetal.bench.dispatch.decoding import Decoding
from flashmetal.bench.timing import Case, warm

__all__ = ["array_to_wrap", "cases"]

CALLS = 1000


def array_to_wrap() -> np.ndarray:
    """Make an array of a page, as wrapping demands on a Mac."""
    return np.frombuffer(mmap.mmap(-1, mmap.PAGESIZE), "u2")


def cases(decoding: Decoding) -> dict[str, Case]:
    """Give the cases."""
    wrap, array = decoding.device.wrap, array_to_wrap()
    buffer, raw, u2 = decoding.device.alloc(2048, "u16"), bytearray(4096), np.dtype("u2")

    def wrap_and_release() -> float:
        start = perf_counter()
        for _ in repeat(None, CALLS):
            wrap(array)
        return (perf_counter() - start) / CALLS

    def as_array() -> float:
        as_numpy = np.asarray
        start = perf_counter()
        for _ in repeat(None, CALLS):
            as_numpy(buffer)
        return (perf_counter() - start) / CALLS

    def from_buffer() -> float:
        as_numpy = np.frombuffer
        start = perf_counter()
        for _ in repeat(None, CALLS):
            as_numpy(raw, u2)
        return (perf_counter() - start) / CALLS

    return {
        "Device.wrap and release": Case(warm(wrap_and_release), loops_in_python=True),
        "np.asarray(buffer)": Case(warm(as_array), loops_in_python=True),
        "np.frombuffer": Case(warm(from_buffer), loops_in_python=True),
    }
