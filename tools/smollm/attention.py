"""What the model asks of attention, and its NumPy implementation."""

from __future__ import annotations

from typing import Protocol

import numpy as np

from .gguf_file import ModelConfig
from .kv_cache import KVCache, NumpyKVCache

# Bounds the score matrix of a long prompt: heads · rows · context floats.
_ROWS_PER_BLOCK = 256


class Attention(Protocol):
    """Causal attention of new rows over a layer's cache."""

    cache: KVCache

    def attend(self, layer: int, q: np.ndarray, start: int) -> np.ndarray:
        """Return the attention of each row over the cache up to and including its position.

        Parameters
        ----------
        layer
            Whose keys and values to read; the rows' own are already stored.
        q
            f32 ``[rows, n_heads, head_dim]``.
        start
            Position of the first row.

        Returns
        -------
        numpy.ndarray
            f32 ``[rows, n_heads, head_dim]``.
        """
        ...


class NumpyAttention:
    """Attention in NumPy f32 over an f16 cache in ordinary arrays.

    Parameters
    ----------
    config
        Sizes of the model.
    capacity
        Rows of the cache.
    rounds
        Whether rows that come together have their queries and weights rounded to f16, as the
        prefill kernels do it.
    """

    def __init__(self, config: ModelConfig, capacity: int, rounds: bool = False) -> None:
        self.cache = NumpyKVCache(config, capacity)
        self._rounds = rounds

    def attend(self, layer: int, q: np.ndarray, start: int) -> np.ndarray:
        """Implement `Attention.attend`."""
        keys = self.cache.k(layer)[: start + len(q)]
        values = self.cache.v(layer)[: start + len(q)]
        rounds = self._rounds and len(q) > 1
        return causal_attention(q, keys, values, start, np.float32, rounds)


def causal_attention(
    q: np.ndarray,
    keys: np.ndarray,
    values: np.ndarray,
    start: int,
    dtype: type[np.floating],
    rounds: bool = False,
) -> np.ndarray:
    """Return attention computed in `dtype`, row r seeing keys ``0 … start + r``.

    q is ``[rows, n_heads, head_dim]``, keys and values ``[start + rows, n_kv_heads, head_dim]``;
    the result has q's shape. Query head h reads kv head ``h // (n_heads / n_kv_heads)``. `rounds`:
    scaled queries and weights are rounded to f16.
    """
    blocks = [
        _attend_block(
            q[first : first + _ROWS_PER_BLOCK], keys, values, start + first, dtype, rounds
        )
        for first in range(0, len(q), _ROWS_PER_BLOCK)
    ]
    return np.concatenate(blocks)


def _attend_block(
    q: np.ndarray,
    keys: np.ndarray,
    values: np.ndarray,
    start: int,
    dtype: type[np.floating],
    rounds: bool,
) -> np.ndarray:
    def rounded(x: np.ndarray) -> np.ndarray:
        return x.astype(np.float16).astype(dtype) if rounds else x

    rows, n_heads, head_dim = q.shape
    seen, n_kv_heads, _ = keys[: start + rows].shape
    # [kv head, heads of its group · rows, head_dim], so that one product serves a whole group.
    group = q.reshape(rows, n_kv_heads, -1, head_dim).transpose(1, 2, 0, 3)
    group = group.reshape(n_kv_heads, -1, head_dim).astype(dtype)
    k = keys[:seen].astype(dtype).transpose(1, 2, 0)
    v = values[:seen].astype(dtype).transpose(1, 0, 2)

    scores = rounded(group * dtype(head_dim**-0.5)) @ k
    scores = scores.reshape(n_kv_heads, -1, rows, seen)
    if rows > 1:
        future = np.arange(seen) > np.arange(start, start + rows)[:, None]
        scores[..., future] = -np.inf
    weights = rounded(np.exp(scores - scores.max(axis=-1, keepdims=True)))
    weights /= weights.sum(axis=-1, keepdims=True)
    out = weights.reshape(n_kv_heads, -1, seen) @ v
    return out.reshape(n_heads, rows, head_dim).transpose(1, 0, 2)
