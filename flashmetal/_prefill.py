"""Prefill attention of whole arrays: padded buffers, the mask's tile classes, the attention."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ._buffer import Buffer
from ._encoder import CommandEncoder
from ._prefill_operation import CACHE_ROWS_PER_STEP, PrefillOperation, kv_pad
from ._registry import KernelRegistry
from .ops.flash_attn_prefill_blk import (
    BlkParams,
    blk_buffer_byte_len,
    dispatch_flash_attn_prefill_blk,
)

__all__ = ["PrefillBuffers"]


class PrefillBuffers(NamedTuple):
    """The buffers of one prefill call, packed.

    Parameters
    ----------
    operation
        Whose kernels run.
    q, out
        f32 ``[rows, n_heads, head_dim]``.
    k, v
        f16 ``[kv_pad, n_kv_heads, head_dim]``.
    mask
        f16 ``[rows, kv_pad]``.
    blk
        u8, the classes of the mask's tiles.
    """

    operation: PrefillOperation
    q: Buffer
    k: Buffer
    v: Buffer
    mask: Buffer
    blk: Buffer
    out: Buffer

    @classmethod
    def fill(
        cls,
        operation: PrefillOperation,
        take: Callable[[tuple[int, ...], str], Buffer],
        q: NDArray[np.float32],
        k: NDArray[np.float16],
        v: NDArray[np.float16],
        fill_mask: Callable[[NDArray[np.float16]], None],
    ) -> PrefillBuffers:
        """Take buffers and copy the inputs into them, with the padding that the kernel needs.

        Parameters
        ----------
        operation
            Whose kernels are to run.
        take
            Gives a buffer of a shape and a dtype, e.g. ``device.alloc``.
        q, k, v
            As the buffers, but that k and v have any number of rows from 1 on.
        fill_mask
            Writes the mask's cells, ``[rows, rows of k]``.
        """
        rows, _, head_dim = q.shape
        keys = kv_pad(len(k))
        tiles = _tiles(operation, rows, keys, head_dim)
        buffers = cls(
            operation,
            q=take(q.shape, "f32"),
            k=take((keys, *k.shape[1:]), "f16"),
            v=take((keys, *v.shape[1:]), "f16"),
            mask=take((rows, keys), "f16"),
            blk=take((blk_buffer_byte_len(tiles),), "u8"),
            out=take(q.shape, "f32"),
        )
        np.asarray(buffers.q)[...] = q
        for buffer, array in ((buffers.k, k), (buffers.v, v)):
            padded = np.asarray(buffer)
            padded[: len(array)] = array
            padded[len(array) :] = 0
        cells = np.asarray(buffers.mask)
        fill_mask(cells[:, : len(k)])
        cells[:, len(k) :] = -np.inf
        return buffers

    def encode(
        self, encoder: CommandEncoder, registry: KernelRegistry, scale: float | None
    ) -> None:
        """Encode the classification of the mask's tiles and then the attention."""
        rows, n_heads, head_dim = self.q.shape
        keys, n_kv_heads, _ = self.k.shape
        params = self.operation.params(
            rows=rows,
            n_heads=n_heads,
            n_kv_heads=n_kv_heads,
            head_dim=head_dim,
            kv_pad=keys,
            q_row_stride=n_heads * head_dim,
            q_head_stride=head_dim,
            k_row_stride=n_kv_heads * head_dim,
            k_head_stride=head_dim,
            v_row_stride=n_kv_heads * head_dim,
            v_head_stride=head_dim,
            scale=scale,
        )
        tiles = _tiles(self.operation, rows, keys, head_dim)
        dispatch_flash_attn_prefill_blk(encoder, registry, self.mask, self.blk, tiles)
        encoder.memory_barrier()
        self.operation.dispatch(encoder, registry, *self[1:], params)


def _tiles(operation: PrefillOperation, rows: int, keys: int, head_dim: int) -> BlkParams:
    return BlkParams(rows, keys, operation.kernel(head_dim).queries, CACHE_ROWS_PER_STEP)
