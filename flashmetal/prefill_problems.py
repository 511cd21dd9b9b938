"""Seeded prefill problems: the values of `problems`, under masks from ordinary to hostile."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from .problems import DecodeShape, make_problem

__all__ = ["MASKS", "PrefillProblem", "PrefillShape", "make_prefill_problem"]


class PrefillShape(NamedTuple):
    """The sizes of one prefill call."""

    rows: int
    n_heads: int
    n_kv_heads: int
    head_dim: int
    kv_len: int


@dataclass(frozen=True)
class PrefillProblem:
    """The inputs of one prefill call, without padding.

    Parameters
    ----------
    q
        f32 ``[rows, n_heads, head_dim]``.
    k, v
        f16 ``[kv_len, n_kv_heads, head_dim]``.
    mask
        f16 ``[rows, kv_len]``.
    """

    q: np.ndarray
    k: np.ndarray
    v: np.ndarray
    mask: np.ndarray

    @property
    def shape(self) -> PrefillShape:
        """The sizes, as the arrays have them."""
        rows, n_heads, head_dim = self.q.shape
        return PrefillShape(rows, n_heads, self.k.shape[1], head_dim, len(self.k))


_TILE = 64  # keys that the kernel takes at a time


def _hide(hidden: np.ndarray) -> np.ndarray:
    return np.where(hidden, -np.inf, 0)


def _distance(rows: int, keys: int) -> np.ndarray:
    """How far each key lies behind its query; the last row stands at the last key."""
    return np.arange(keys - rows, keys)[:, None] - np.arange(keys)


def _open(random: np.random.Generator, rows: int, keys: int) -> np.ndarray:
    return np.zeros((rows, keys))


def _causal(random: np.random.Generator, rows: int, keys: int) -> np.ndarray:
    return _hide(_distance(rows, keys) < 0)


def _sliding(random: np.random.Generator, rows: int, keys: int) -> np.ndarray:
    distance = _distance(rows, keys)
    return _hide((distance < 0) | (distance >= max(1, keys // 3)))


def _random(random: np.random.Generator, rows: int, keys: int) -> np.ndarray:
    return _hide(random.random((rows, keys)) < 0.3)


def _blocks(random: np.random.Generator, rows: int, keys: int) -> np.ndarray:
    """Tiles of the kernel's size, most of them all open or all hidden."""
    tiles = random.choice([0, -np.inf, -1.0], (-(-rows // 16), -(-keys // _TILE)))
    return np.repeat(np.repeat(tiles, 16, axis=0), _TILE, axis=1)[:rows, :keys]


def _hidden_rows(random: np.random.Generator, rows: int, keys: int) -> np.ndarray:
    """Every third row sees nothing."""
    return _hide(np.broadcast_to(np.arange(rows)[:, None] % 3 == 1, (rows, keys)))


def _late(random: np.random.Generator, rows: int, keys: int) -> np.ndarray:
    """Rows that see nothing in their first whole tiles."""
    first = random.integers(0, keys, (rows, 1)) // _TILE * _TILE
    return _hide(np.arange(keys) < first)


def _bias(random: np.random.Generator, rows: int, keys: int) -> np.ndarray:
    """Finite biases that fall with the distance, and some that rise."""
    return -0.0625 * abs(_distance(rows, keys)) + random.standard_normal((rows, keys))


def _finite(random: np.random.Generator, rows: int, keys: int) -> np.ndarray:
    """The least f16 in place of −inf, also for all keys of a row."""
    hidden = random.random((rows, keys)) < 0.5
    hidden[::5] = True
    return np.where(hidden, np.finfo(np.float16).min, 0)


MASKS: dict[str, Callable[[np.random.Generator, int, int], np.ndarray]] = {
    "open": _open,
    "causal": _causal,
    "sliding": _sliding,
    "random": _random,
    "blocks": _blocks,
    "hidden rows": _hidden_rows,
    "late": _late,
    "bias": _bias,
    "finite": _finite,
}


def make_prefill_problem(
    shape: PrefillShape, kind: str = "normal", mask: str = "open", seed: int = 0
) -> PrefillProblem:
    """Return the problem of one of `problems.KINDS` and `MASKS`: the same one each time."""
    random = np.random.default_rng((seed, list(MASKS).index(mask), *shape))
    rows, n_heads, n_kv_heads, head_dim, kv_len = shape
    # To the values a row of queries is more heads.
    decode = make_problem(DecodeShape(rows * n_heads, n_kv_heads, head_dim, kv_len), kind, seed)
    cells = MASKS[mask](random, rows, kv_len)
    return PrefillProblem(
        decode.q.reshape(rows, n_heads, head_dim), decode.k, decode.v, cells.astype(np.float16)
    )
