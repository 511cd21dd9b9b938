"""Classes of the tiles of an attention mask: what prefill attention skips, and where it adds it."""

from __future__ import annotations

from .._blk_params import BlkParams
from .._buffer import Buffer
from .._checks import (
    count_elems,
    need_alignment,
    need_buffer,
    need_disjoint,
    need_elems,
    need_kind,
    need_output,
    need_tile_classes,
)
from .._encoder import CommandEncoder
from .._registry import KernelRegistry
from ..dtype import DTYPES
from ..errors import InvalidArgument
from ..shipped import register_shader

__all__ = [
    "BlkParams",
    "blk_buffer_byte_len",
    "blk_shape",
    "dispatch_flash_attn_prefill_blk",
    "register",
]

OP = "flash_attn_prefill_blk"
THREADS = 32

# By the dtype of the mask.
KERNELS = {"f16": "flash_attn_prefill_blk_f16", "bf16": "flash_attn_prefill_blk_bf16"}

# Argument indices of the kernels, and indices of their function constants.
MASK, BLK, PARAMS = range(3)
BQ, BK = 400, 401

BUFFER_UNIT = 32  # bytes


def register(registry: KernelRegistry) -> None:
    """Register the shipped kernels of this operation."""
    need_kind(OP, "registry", registry, KernelRegistry)
    register_shader(registry, OP, KERNELS.values())


def blk_shape(params: BlkParams) -> tuple[int, int]:
    """Return how many rows of tiles the mask has, and how many tiles a row.

    Raises
    ------
    InvalidArgument
        When the mask or a tile is empty.
    """
    need_kind(OP, "params", params, BlkParams)
    if not (params.seq_len_q and params.seq_len_k and params.bq and params.bk):
        raise InvalidArgument(f"{OP}: empty shape {params}")
    return -(-params.seq_len_q // params.bq), -(-params.seq_len_k // params.bk)


def blk_buffer_byte_len(params: BlkParams) -> int:
    """Return the bytes to allocate for the classes: a byte per tile, in units of 32.

    Raises
    ------
    InvalidArgument
        When the mask or a tile is empty.
    """
    tile_rows, tiles_per_row = blk_shape(params)
    return -(-tile_rows * tiles_per_row // BUFFER_UNIT) * BUFFER_UNIT


def dispatch_flash_attn_prefill_blk(
    encoder: CommandEncoder,
    registry: KernelRegistry,
    mask: Buffer,
    blk: Buffer,
    params: BlkParams,
) -> None:
    """Encode the classification of a mask's tiles.

    The classes are 0: every cell is at most −1e30, so that the tile can be skipped; 2: every cell
    is 0; 1: anything else, and every tile that the mask's right edge cuts off. What uses the
    classes in the same command buffer needs a `memory_barrier` before it.

    Parameters
    ----------
    encoder
        Takes the dispatch.
    registry
        Has the kernels: see `register`. Tiles of 32 by 64 and of 16 by 64 come compiled; others are
        compiled when they are first used, for which host Metal needs clang.
    mask
        f16 or bf16 ``[seq_len_q, seq_len_k]``, additive, with rows `mask_row_stride` apart.
    blk
        u8 ``[⌈seq_len_q / bq⌉, ⌈seq_len_k / bk⌉]``, written.
    params
        The shapes; copied at once.

    Raises
    ------
    InvalidArgument
        When shapes, dtypes, sizes, offsets or devices do not fit; nothing is encoded then.
    KernelNotFound
        When the registry has no kernel of the name.
    ShaderCompilationError
        When it does not compile.
    InvalidState
        When the encoder is committed, discarded or in use by another thread.
    """
    need_kind(OP, "encoder", encoder, CommandEncoder)
    need_kind(OP, "registry", registry, KernelRegistry)
    tile_rows, tiles_per_row = blk_shape(params)
    words = params.pack()
    need_buffer(OP, "mask", mask)
    if mask.dtype not in KERNELS:
        raise InvalidArgument(f"{OP}: mask must be f16 or bf16, got {mask.dtype}")
    count = count_elems(params.seq_len_q - 1, params.mask_row_stride, 0, 0, params.seq_len_k)
    cells = need_elems(OP, "mask", mask, mask.dtype, count)
    tile_count = tile_rows * tiles_per_row
    classes = need_tile_classes(OP, blk, tile_count, params.bq, params.bk)
    need_alignment(OP, cells, DTYPES[mask.dtype].size)
    need_disjoint(OP, classes, [cells])
    need_output(OP, classes)

    constants = {BQ: params.bq, BK: params.bk}
    pipeline = registry.get_pipeline(KERNELS[mask.dtype], constants, device=encoder.device)
    encoder.dispatch(
        pipeline, {MASK: mask, BLK: blk, PARAMS: words}, (tiles_per_row, tile_rows), THREADS
    )
