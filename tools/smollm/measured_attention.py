"""An attention that is timed, and sampled for comparison with fp64."""

from __future__ import annotations

import time
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from .attention import Attention, causal_attention
from .kv_cache import KVCache

# fp64 attention over thousands of rows takes milliseconds; this many stay within a second or two.
_MOST_COMPARED = 256


@dataclass
class DispatchTimes:
    """Sum over dispatches: one per row and layer."""

    dispatches: int = 0
    seconds: float = 0.0

    def add(self, dispatches: int, seconds: float) -> None:
        """Count dispatches that took `seconds` together."""
        self.dispatches += dispatches
        self.seconds += seconds

    @property
    def mean(self) -> float:
        """Return seconds per dispatch, or 0 when there was none."""
        return self.seconds / self.dispatches if self.dispatches else 0.0


class _Sample(NamedTuple):
    layer: int
    position: int
    q: np.ndarray
    out: np.ndarray


class MeasuredAttention:
    """Passes everything on to `attention` and remembers what `largest_difference` needs.

    Each position is sampled at one layer, layers taking turns. The cache only grows, so what a
    sample attended to is still there afterwards: the timed part copies two rows, no more.
    """

    def __init__(self, attention: Attention) -> None:
        self._attention = attention
        self._n_layers = attention.cache.layers
        self._samples: list[_Sample] = []
        self.prompt = DispatchTimes()
        self.steps = DispatchTimes()

    @property
    def cache(self) -> KVCache:
        """Return the wrapped attention's cache."""
        return self._attention.cache

    def attend(self, layer: int, q: np.ndarray, start: int) -> np.ndarray:
        """Implement `Attention.attend`."""
        began = time.perf_counter()
        out = self._attention.attend(layer, q, start)
        seconds = time.perf_counter() - began
        times = self.prompt if start == 0 else self.steps
        times.add(len(q), seconds)
        for row in range((layer - start) % self._n_layers, len(q), self._n_layers):
            self._samples.append(_Sample(layer, start + row, q[row].copy(), out[row].copy()))
        return out

    def largest_difference(self) -> tuple[float, int]:
        """Return the largest ``|out - fp64 attention|`` and how many rows were compared."""
        stride = -(-len(self._samples) // _MOST_COMPARED) or 1
        compared = self._samples[::stride]
        # NumPy's maximum, unlike the builtin, is NaN as soon as one difference is.
        return float(np.max(list(map(self._difference, compared)), initial=0.0)), len(compared)

    def _difference(self, sample: _Sample) -> float:
        seen = slice(sample.position + 1)
        keys = np.asarray(self.cache.k(sample.layer))[seen]
        values = np.asarray(self.cache.v(sample.layer))[seen]
        exact = causal_attention(sample.q[None], keys, values, sample.position, np.float64)
        return float(np.max(np.abs(sample.out - exact[0])))
