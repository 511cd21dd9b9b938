"""Attention through flashmetal, with the K/V cache in its buffers."""

from __future__ import annotations

import numpy as np

import flashmetal as fm
from flashmetal.ops.flash_attention import (
    FlashAttentionParams,
    encode_attention,
    encode_attention_q_offset,
    register,
)

from .errors import GenerateError
from .gguf_file import ModelConfig
from .kv_cache import KVCache


def open_device(engine: str | None = None) -> fm.Device:
    """Return the system's device, or host Metal's with the engine named.

    Raises
    ------
    GenerateError
        There is no such device; the text says why.
    """
    try:
        return fm.Device(engine=engine) if engine else fm.Device()
    except fm.errors.FlashMetalError as error:
        raise GenerateError(str(error)) from error


class FlashmetalAttention:
    """Decode attention of a flashmetal device over an f16 cache in its buffers.

    Parameters
    ----------
    config
        Sizes of the model.
    capacity
        Rows of the cache, and the most rows of one `attend`.
    device
        Where the buffers live and the kernels run.
    """

    def __init__(self, config: ModelConfig, capacity: int, device: fm.Device) -> None:
        self._config = config
        self._device = device
        self._registry = fm.KernelRegistry(device)
        register(self._registry)

        kv_shape = (capacity, config.n_kv_heads, config.head_dim)
        self._keys = [device.alloc(kv_shape, "f16") for _ in range(config.n_layers)]
        self._values = [device.alloc(kv_shape, "f16") for _ in range(config.n_layers)]
        self.cache = KVCache(
            [np.asarray(buffer) for buffer in self._keys],
            [np.asarray(buffer) for buffer in self._values],
        )

        row_shape = (capacity, config.n_heads, config.head_dim)
        self._q = device.alloc(row_shape, "f32")
        self._out = device.alloc(row_shape, "f32")
        self._q_rows = np.asarray(self._q)
        self._out_rows = np.asarray(self._out)

    def attend(self, layer: int, q: np.ndarray, start: int) -> np.ndarray:
        """Implement `Attention.attend`: one dispatch per row, one command buffer per layer."""
        rows = len(q)
        self._q_rows[:rows] = q
        encoder = self._device.encoder()
        if rows == 1:
            buffers = (self._q, self._keys[layer], self._values[layer], self._out)
            encode_attention(encoder, self._registry, *buffers, self._params(start + 1))
        else:
            self._encode_rows(encoder, layer, rows, start)
        encoder.commit_and_wait()
        return self._out_rows[:rows]

    def _encode_rows(self, encoder: fm.CommandEncoder, layer: int, rows: int, start: int) -> None:
        buffers = (self._q, self._keys[layer], self._values[layer], self._out)
        row_bytes = self._q_rows.strides[0]
        # Rows write apart from each other and only read the cache: no barrier between them.
        for row in range(rows):
            params = self._params(start + row + 1)
            offset = row * row_bytes
            encode_attention_q_offset(encoder, self._registry, *buffers, params, offset, offset)

    def _params(self, seq_len: int) -> FlashAttentionParams:
        return FlashAttentionParams(
            n_heads=self._config.n_heads,
            n_kv_heads=self._config.n_kv_heads,
            head_dim=self._config.head_dim,
            seq_len=seq_len,
        )
