"""Seeded decode problems, from ordinary inputs to hostile ones, for `verify` and the tests."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

__all__ = ["KINDS", "DecodeProblem", "DecodeShape", "make_problem"]


class DecodeShape(NamedTuple):
    """The sizes of one decode call."""

    n_heads: int
    n_kv_heads: int
    head_dim: int
    seq_len: int


@dataclass(frozen=True)
class DecodeProblem:
    """The inputs of one decode call.

    Parameters
    ----------
    q
        f32 ``[n_heads, head_dim]``.
    k, v
        f16 ``[seq_len, n_kv_heads, head_dim]``.
    """

    q: np.ndarray
    k: np.ndarray
    v: np.ndarray

    @property
    def shape(self) -> DecodeShape:
        """The sizes, as the arrays have them."""
        seq_len, n_kv_heads, head_dim = self.k.shape
        return DecodeShape(len(self.q), n_kv_heads, head_dim, seq_len)


_Arrays = tuple[np.ndarray, np.ndarray, np.ndarray]
_F16_MAX = float(np.finfo(np.float16).max)


def _normal(random: np.random.Generator, shape: DecodeShape) -> _Arrays:
    kv_shape = (shape.seq_len, shape.n_kv_heads, shape.head_dim)
    q = random.standard_normal((shape.n_heads, shape.head_dim))
    return q, random.standard_normal(kv_shape), random.standard_normal(kv_shape)


def _large_logits(random: np.random.Generator, shape: DecodeShape) -> _Arrays:
    q, k, v = _normal(random, shape)
    return 8 * q, k, v


def _wide_range(random: np.random.Generator, shape: DecodeShape) -> _Arrays:
    """Twelve binary orders of magnitude in each array, as subnormal f16 values have them."""
    q, k, v = (x * np.exp2(random.uniform(-9, 3, x.shape)) for x in _normal(random, shape))
    return q, k, v * 2.0**-12


def _outliers(random: np.random.Generator, shape: DecodeShape) -> _Arrays:
    """Some of K and V at the end of f16's range, where an f16 product or sum overflows."""
    q, k, v = _normal(random, shape)
    for array in (k, v):
        array[random.random(array.shape) < 0.01] = 60000
    return q * 2.0**-8, k, v


def _cancelling(random: np.random.Generator, shape: DecodeShape) -> _Arrays:
    """Values of alternating sign, whose weighted sum is far smaller than its terms."""
    q, k, v = _normal(random, shape)
    v = 1000 * (1 + v / 1024)
    v[1::2] *= -1
    return q / 64, k, v


def _ramp(shape: DecodeShape, start: float, stop: float) -> np.ndarray:
    ramp = np.linspace(start, stop, shape.seq_len)[:, None, None]
    return np.broadcast_to(ramp, (shape.seq_len, shape.n_kv_heads, shape.head_dim))


def _rising(random: np.random.Generator, shape: DecodeShape) -> _Arrays:
    """Scores that grow along the cache: every tile moves the running maximum."""
    q, _, v = _normal(random, shape)
    return abs(q), _ramp(shape, -8, 8), v


def _falling(random: np.random.Generator, shape: DecodeShape) -> _Arrays:
    """Scores that shrink along the cache: later tiles hardly count."""
    q, _, v = _normal(random, shape)
    return abs(q), _ramp(shape, 8, -8), v


def _needle(random: np.random.Generator, shape: DecodeShape) -> _Arrays:
    """One key so far ahead of the others that its weight is 1 in f32."""
    q, k, v = _normal(random, shape)
    if shape.seq_len:
        k[random.integers(shape.seq_len)] = 256
    return abs(q) + 1, k, v


def _very_negative(random: np.random.Generator, shape: DecodeShape) -> _Arrays:
    """Scores far below any finite stand-in for minus infinity."""
    q, k, v = _normal(random, shape)
    return np.full_like(q, 256.0), -256 + k, v


KINDS: dict[str, Callable[[np.random.Generator, DecodeShape], _Arrays]] = {
    "normal": _normal,
    "large logits": _large_logits,
    "wide range": _wide_range,
    "outliers": _outliers,
    "cancelling": _cancelling,
    "rising": _rising,
    "falling": _falling,
    "needle": _needle,
    "very negative": _very_negative,
}


def make_problem(shape: DecodeShape, kind: str = "normal", seed: int = 0) -> DecodeProblem:
    """Return the problem of one of `KINDS`: the same one for the same arguments."""
    random = np.random.default_rng((seed, list(KINDS).index(kind), *shape))
    q, k, v = KINDS[kind](random, shape)
    k, v = (np.clip(x, -_F16_MAX, _F16_MAX).astype(np.float16) for x in (k, v))
    return DecodeProblem(q.astype(np.float32), k, v)
