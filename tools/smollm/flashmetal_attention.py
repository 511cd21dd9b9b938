"""Attention through flashmetal, with the K/V cache in its buffers."""

from __future__ import annotations

import numpy as np

import flashmetal as fm
from flashmetal.ops import flash_attention, flash_attn_prefill_blk, flash_attn_prefill_simdgroup
from flashmetal.ops.flash_attn_prefill_simdgroup import kv_pad

from .errors import GenerateError
from .flashmetal_prefill import Prefill
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
    """Attention of a flashmetal device over an f16 cache in its buffers.

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
        for operation in (flash_attention, flash_attn_prefill_blk, flash_attn_prefill_simdgroup):
            operation.register(self._registry)

        # Prefill reads whole tiles of the cache, whose rows past the last are zero.
        self.cache = fm.KVCache(
            device, config.n_layers, kv_pad(capacity), config.n_kv_heads, config.head_dim
        )
        row_shape = (capacity, config.n_heads, config.head_dim)
        self._q = device.alloc(row_shape, "f32")
        self._out = device.alloc(row_shape, "f32")
        self._q_rows = np.asarray(self._q)
        self._out_rows = np.asarray(self._out)

        self._plans = [
            fm.DecodePlan(
                self._registry,
                *self._buffers(layer),
                n_heads=config.n_heads,
                n_kv_heads=config.n_kv_heads,
                head_dim=config.head_dim,
            )
            for layer in range(config.n_layers)
        ]
        self._prefill: Prefill | None = None

    def attend(self, layer: int, q: np.ndarray, start: int) -> np.ndarray:
        """Implement `Attention.attend`: one dispatch in one command buffer per layer."""
        rows = len(q)
        self._q_rows[:rows] = q
        if rows == 1:
            encoder = self._device.encoder()
            self._plans[layer].encode(encoder, start + 1)
        else:
            prefill = self._prefill_of(start, rows)
            encoder = self._device.encoder()
            prefill.encode(encoder, *self._buffers(layer))
        encoder.commit_and_wait()
        return self._out_rows[:rows]

    def _prefill_of(self, start: int, rows: int) -> Prefill:
        # The layers come one after another with the same rows.
        if self._prefill is None or self._prefill.span != (start, rows):
            self._prefill = Prefill(self._registry, self._config, start, rows)
        return self._prefill

    def _buffers(self, layer: int) -> tuple[fm.Buffer, ...]:
        return self._q, self.cache.k(layer), self.cache.v(layer), self._out
