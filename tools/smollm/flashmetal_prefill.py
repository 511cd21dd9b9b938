"""Causal attention of many rows through flashmetal."""

from __future__ import annotations

import numpy as np

import flashmetal as fm
from flashmetal.ops.flash_attn_prefill_blk import (
    BlkParams,
    blk_buffer_byte_len,
    dispatch_flash_attn_prefill_blk,
)
from flashmetal.ops.flash_attn_prefill_simdgroup import (
    CACHE_ROWS_PER_STEP,
    FlashAttnPrefillSimdgroupParams,
    dispatch_flash_attn_prefill_simdgroup_f16,
    kv_pad,
    queries_per_threadgroup,
)

from .gguf_file import ModelConfig


class Prefill:
    """What the layers share when the same rows come to each: sizes, causal mask, tile classes.

    Parameters
    ----------
    registry
        Has the prefill kernels.
    config
        Sizes of the model.
    start
        Position of the first row.
    rows
        How many there are.
    """

    def __init__(
        self, registry: fm.KernelRegistry, config: ModelConfig, start: int, rows: int
    ) -> None:
        self.span = (start, rows)
        self._registry = registry
        q_row_stride = config.n_heads * config.head_dim
        kv_row_stride = config.n_kv_heads * config.head_dim
        self._params = FlashAttnPrefillSimdgroupParams(
            rows=rows,
            n_heads=config.n_heads,
            n_kv_heads=config.n_kv_heads,
            head_dim=config.head_dim,
            kv_pad=kv_pad(start + rows),
            q_row_stride=q_row_stride,
            q_head_stride=config.head_dim,
            k_row_stride=kv_row_stride,
            k_head_stride=config.head_dim,
            v_row_stride=kv_row_stride,
            v_head_stride=config.head_dim,
        )
        self._mask = registry.device.alloc((rows, self._params.kv_pad), "f16")
        self._fill_mask()
        self._classes = self._classify()

    def encode(
        self,
        encoder: fm.CommandEncoder,
        q: fm.Buffer,
        k: fm.Buffer,
        v: fm.Buffer,
        out: fm.Buffer,
    ) -> None:
        """Encode a layer's attention: f32 rows of q to out, over the f16 cache."""
        dispatch_flash_attn_prefill_simdgroup_f16(
            encoder, self._registry, q, k, v, self._mask, self._classes, out, self._params
        )

    def _fill_mask(self) -> None:
        """Hide from each row the keys after its own, and with them the padding."""
        start, _ = self.span
        keys = np.arange(self._params.kv_pad)
        for row, cells in enumerate(np.asarray(self._mask)):
            cells[keys > start + row] = -np.inf

    def _classify(self) -> fm.Buffer:
        tiles = BlkParams(
            seq_len_q=self._params.rows,
            seq_len_k=self._params.kv_pad,
            bq=queries_per_threadgroup(self._params.head_dim),
            bk=CACHE_ROWS_PER_STEP,
        )
        device = self._registry.device
        classes = device.alloc((blk_buffer_byte_len(tiles),), "u8")
        with device.encoder() as encoder:
            dispatch_flash_attn_prefill_blk(encoder, self._registry, self._mask, classes, tiles)
        return classes
