"""The f16 K/V cache of every layer, wherever its memory lives."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from .errors import CacheOverflowError
from .gguf_file import ModelConfig


class KVCache:
    """Keys and values of every layer, written in place row by row.

    Parameters
    ----------
    keys, values
        One f16 array ``[capacity, n_kv_heads, head_dim]`` per layer. They are used as they are:
        views of a device's buffers make this a cache on the device.
    """

    def __init__(self, keys: Sequence[np.ndarray], values: Sequence[np.ndarray]) -> None:
        self.keys = keys
        self.values = values
        self.capacity = len(keys[0])

    @classmethod
    def in_numpy(cls, config: ModelConfig, capacity: int) -> KVCache:
        """Return an empty cache in ordinary arrays."""
        shape = (capacity, config.n_kv_heads, config.head_dim)
        keys = [np.zeros(shape, np.float16) for _ in range(config.n_layers)]
        values = [np.zeros(shape, np.float16) for _ in range(config.n_layers)]
        return cls(keys, values)

    def store(self, layer: int, start: int, k: np.ndarray, v: np.ndarray) -> None:
        """Round k and v, f32 ``[rows, n_kv_heads, head_dim]``, into the rows from `start` on.

        Raises
        ------
        CacheOverflowError
            A number is beyond f16's range; it would be an infinity in the cache.
        """
        rows = slice(start, start + len(k))
        try:
            with np.errstate(over="raise"):
                self.keys[layer][rows] = k
                self.values[layer][rows] = v
        except FloatingPointError:
            raise CacheOverflowError(
                f"A key or value of layer {layer} is too large for the f16 cache."
            ) from None
