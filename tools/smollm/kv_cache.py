"""The f16 K/V cache of every layer, wherever its memory lives."""

from __future__ import annotations

from typing import Protocol

import numpy as np

from .errors import CacheOverflowError
from .gguf_file import ModelConfig


class KVCache(Protocol):
    """Keys and values of every layer, appended row by row: `flashmetal.KVCache` is one."""

    @property
    def layers(self) -> int:
        """Layers."""
        ...

    def append(self, layer: int, k: np.ndarray, v: np.ndarray) -> int:
        """Round k and v, f32 ``[rows, n_kv_heads, head_dim]``, into a layer's next rows.

        Returns the rows that the layer holds now. A number beyond f16's range is an error: it would
        be an infinity in the cache.
        """
        ...

    def k(self, layer: int) -> object:
        """Return what NumPy views as a layer's keys, f16 ``[capacity, n_kv_heads, head_dim]``."""
        ...

    def v(self, layer: int) -> object:
        """Return the values, as `k` the keys."""
        ...


class NumpyKVCache:
    """A cache in ordinary arrays.

    Parameters
    ----------
    config
        Sizes of the model.
    capacity
        Rows of each layer.
    """

    def __init__(self, config: ModelConfig, capacity: int) -> None:
        shape = (config.n_layers, capacity, config.n_kv_heads, config.head_dim)
        self._keys = np.zeros(shape, np.float16)
        self._values = np.zeros(shape, np.float16)
        self._lengths = [0] * config.n_layers

    @property
    def layers(self) -> int:
        """Implement `KVCache.layers`."""
        return len(self._lengths)

    def append(self, layer: int, k: np.ndarray, v: np.ndarray) -> int:
        """Implement `KVCache.append`.

        Raises
        ------
        CacheOverflowError
            A number is beyond f16's range.
        """
        start = self._lengths[layer]
        rows = slice(start, start + len(k))
        try:
            with np.errstate(over="raise"):
                self._keys[layer, rows] = k
                self._values[layer, rows] = v
        except FloatingPointError:
            raise CacheOverflowError(
                f"A key or value of layer {layer} is too large for the f16 cache."
            ) from None
        self._lengths[layer] = start + len(k)
        return self._lengths[layer]

    def k(self, layer: int) -> np.ndarray:
        """Implement `KVCache.k`."""
        return self._keys[layer]

    def v(self, layer: int) -> np.ndarray:
        """Implement `KVCache.v`."""
        return self._values[layer]
