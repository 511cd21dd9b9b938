"""Functions of many independent rows, on all cores.

NumPy lets other Python threads run during its products, each of which is told to take one thread
(`OPENBLAS_NUM_THREADS`): threads of BLAS's own would spin between products, beside attention's.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor

import numpy as np

# Smaller products do not pay for being handed to another thread.
_LEAST_ROWS = 16
# More blocks than cores, so that one core that is late holds up less.
_BLOCKS_PER_CORE = 2


class RowBlocks:
    """Threads that take blocks of rows; they sleep meanwhile."""

    def __init__(self) -> None:
        self._cores = _usable_cores()
        self.pool = ThreadPoolExecutor(self._cores)

    def compute(self, function: Callable[[np.ndarray], np.ndarray], rows: np.ndarray) -> np.ndarray:
        """Return `function` of rows ``[n, …]``, which must compute each by itself."""
        blocks = min(_BLOCKS_PER_CORE * self._cores, len(rows) // _LEAST_ROWS)
        if self._cores == 1 or blocks < 2:
            return function(rows)
        return np.concatenate(list(self.pool.map(function, np.array_split(rows, blocks))))


def _usable_cores() -> int:
    # Not everywhere can a process be held to some of them.
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1
