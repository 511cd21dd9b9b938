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
    """Sum over dispatches of attention: one per layer, for all rows that come together."""

    dispatches: int = 0
    seconds: float = 0.0

    def add(self, seconds: float) -> None:
        """Count a dispatch that took `seconds`."""
        self.dispatches += 1
        self.seconds += seconds

    @property
    def mean(self) -> float:
        """Return seconds per dispatch, or 0 when there was none."""
        return self.seconds / self.dispatches if self.dispatches else 0.0


class Difference(NamedTuple):
    """The largest ``|out - fp64 attention|``, and how many rows were compared."""

    largest: float
    rows: int


class _Sample(NamedTuple):
    layer: int
    position: int
    q: np.ndarray
    out: np.ndarray


class MeasuredAttention:
    """Passes everything on to `attention` and remembers what comparing it needs.

    Each position is sampled at one layer, layers taking turns. The cache only grows, so what a
    sample attended to is still there afterwards: the timed part copies two rows, no more.

    Parameters
    ----------
    attention
        What computes.
    prompt_rows
        Rows that are the prompt's; those after them are steps.
    """

    def __init__(self, attention: Attention, prompt_rows: int) -> None:
        self._attention = attention
        self._prompt_rows = prompt_rows
        self._n_layers = attention.cache.layers
        self._prompt_samples: list[_Sample] = []
        self._step_samples: list[_Sample] = []
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
        is_prompt = start < self._prompt_rows
        (self.prompt if is_prompt else self.steps).add(seconds)
        samples = self._prompt_samples if is_prompt else self._step_samples
        for row in range((layer - start) % self._n_layers, len(q), self._n_layers):
            samples.append(_Sample(layer, start + row, q[row].copy(), out[row].copy()))
        return out

    def prompt_difference(self) -> Difference:
        """Compare rows of the prompt with fp64."""
        return self._compare(self._prompt_samples)

    def step_difference(self) -> Difference:
        """Compare rows of the steps after the prompt with fp64."""
        return self._compare(self._step_samples)

    def _compare(self, samples: list[_Sample]) -> Difference:
        stride = -(-len(samples) // _MOST_COMPARED) or 1
        compared = samples[::stride]
        # NumPy's maximum, unlike the builtin, is NaN as soon as one difference is.
        largest = float(np.max(list(map(self._difference, compared)), initial=0.0))
        return Difference(largest, len(compared))

    def _difference(self, sample: _Sample) -> float:
        seen = slice(sample.position + 1)
        keys = np.asarray(self.cache.k(sample.layer))[seen]
        values = np.asarray(self.cache.v(sample.layer))[seen]
        exact = causal_attention(sample.q[None], keys, values, sample.position, np.float64)
        return float(np.max(np.abs(sample.out - exact[0])))
