"""Attention through flashmetal, with the K/V cache in its buffers."""

from __future__ import annotations

import numpy as np

import flashmetal as fm
from flashmetal.ops.flash_attention import (
    FlashAttentionParams,
    encode_attention_q_offset,
    register,
)

from .errors import GenerateError
from .gguf_file import ModelConfig


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
        self._device = device
        self._registry = fm.KernelRegistry(device)
        register(self._registry)

        heads = {
            "n_heads": config.n_heads,
            "n_kv_heads": config.n_kv_heads,
            "head_dim": config.head_dim,
        }
        self.cache = fm.KVCache(
            device, config.n_layers, capacity, config.n_kv_heads, config.head_dim
        )
        row_shape = (capacity, config.n_heads, config.head_dim)
        self._q = device.alloc(row_shape, "f32")
        self._out = device.alloc(row_shape, "f32")
        self._q_rows = np.asarray(self._q)
        self._out_rows = np.asarray(self._out)

        self._params = FlashAttentionParams(seq_len=0, **heads)
        self._plans = [
            fm.DecodePlan(self._registry, *self._buffers(layer), **heads)
            for layer in range(config.n_layers)
        ]

    def attend(self, layer: int, q: np.ndarray, start: int) -> np.ndarray:
        """Implement `Attention.attend`: one dispatch per row, one command buffer per layer."""
        rows = len(q)
        self._q_rows[:rows] = q
        encoder = self._device.encoder()
        if rows == 1:
            self._plans[layer].encode(encoder, start + 1)
        else:
            self._encode_rows(encoder, layer, rows, start)
        encoder.commit_and_wait()
        return self._out_rows[:rows]

    def _encode_rows(self, encoder: fm.CommandEncoder, layer: int, rows: int, start: int) -> None:
        buffers = self._buffers(layer)
        row_bytes = self._q_rows.strides[0]
        # Rows write apart from each other and only read the cache: no barrier between them.
        for row in range(rows):
            self._params.seq_len = start + row + 1
            offset = row * row_bytes
            encode_attention_q_offset(
                encoder, self._registry, *buffers, self._params, offset, offset
            )

    def _buffers(self, layer: int) -> tuple[fm.Buffer, ...]:
        return self._q, self.cache.k(layer), self.cache.v(layer), self._out
