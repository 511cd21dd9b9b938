"""Prefill attention: many query rows over padded f16 K and V, on any GPU of Apple silicon."""

from __future__ import annotations

from .._buffer import Buffer
from .._checks import need_kind
from .._device import Device
from .._encoder import CommandEncoder
from .._prefill_operation import (
    CACHE_ROWS_PER_STEP,
    PrefillKernel,
    PrefillOperation,
    kv_pad,
    threadgroup_memory,
    to_head_dim,
)
from .._prefill_params import FlashAttnPrefillSimdgroupParams
from .._registry import KernelRegistry
from ..errors import InvalidArgument
from ..shipped import register_shader

__all__ = [
    "CACHE_ROWS_PER_STEP",
    "KERNELS",
    "MAX_HEAD_DIM",
    "FlashAttnPrefillSimdgroupParams",
    "dispatch_flash_attn_prefill_simdgroup_f16",
    "flash_attn_prefill_simdgroup_available",
    "kernel_name",
    "kv_pad",
    "queries_per_threadgroup",
    "register",
    "supports_head_dim",
    "threadgroup_memory_bytes",
]

OP = "flash_attn_prefill_simdgroup"

MAX_HEAD_DIM = 256
HEAD_DIM_UNIT = 4

# With these in their text; the general kernel has it from the params.
SPECIALISED_HEAD_DIMS = (64, 80, 96, 128, 256)
GENERAL_KERNEL = f"{OP}_f16"
KERNELS = (GENERAL_KERNEL, *(f"{GENERAL_KERNEL}_d{width}" for width in SPECIALISED_HEAD_DIMS))

QUERIES = 32  # of a threadgroup
BLOCK = 8  # the side of the blocks that the products are made of
TAILS_BYTES = 2 * CACHE_ROWS_PER_STEP * BLOCK * 2  # blocks that head_dim half fills: of K and V


def supports_head_dim(head_dim: int) -> bool:
    """Whether there is a kernel of this head_dim."""
    width = to_head_dim(head_dim)
    return 0 < width <= MAX_HEAD_DIM and width % HEAD_DIM_UNIT == 0


def kernel_name(head_dim: int) -> str:
    """Return the name of the kernel that serves a head_dim.

    Raises
    ------
    InvalidArgument
        When the head_dim is no multiple of 4 from 4 to 256.
    """
    if not supports_head_dim(head_dim):
        raise InvalidArgument(
            f"{OP}: unsupported head_dim {head_dim!r} (a multiple of {HEAD_DIM_UNIT} up to "
            f"{MAX_HEAD_DIM})"
        )
    return f"{GENERAL_KERNEL}_d{head_dim}" if head_dim in SPECIALISED_HEAD_DIMS else GENERAL_KERNEL


def _kernel(head_dim: int) -> PrefillKernel:
    name = kernel_name(head_dim)
    blocks, tail = divmod(head_dim, BLOCK)
    if not tail:
        return PrefillKernel(name, QUERIES, threadgroup_memory(QUERIES, head_dim))
    padded = threadgroup_memory(QUERIES, (blocks + 1) * BLOCK)
    return PrefillKernel(name, QUERIES, padded + TAILS_BYTES)


OPERATION = PrefillOperation(OP, FlashAttnPrefillSimdgroupParams, _kernel, "metal_simdgroup_matrix")


def register(registry: KernelRegistry) -> None:
    """Register the shipped kernels of this operation."""
    need_kind(OP, "registry", registry, KernelRegistry)
    register_shader(registry, OP, KERNELS)


def flash_attn_prefill_simdgroup_available(
    registry: KernelRegistry, device: Device, head_dim: int
) -> bool:
    """Whether the system can run the kernel: False only without `<metal_simdgroup_matrix>`.

    The first call compiles the kernel; its verdict is remembered until the name is registered anew.

    Parameters
    ----------
    registry
        Has the kernels: see `register`.
    device
        The registry's.
    head_dim
        A multiple of 4 up to 256.

    Raises
    ------
    InvalidArgument
        When the head_dim is another one, or the device not the registry's.
    KernelNotFound
        When the registry has no kernel of the name.
    ShaderCompilationError
        When it does not compile for another reason; that is not remembered.
    """
    return OPERATION.is_available(registry, device, head_dim)


def queries_per_threadgroup(head_dim: int) -> int:
    """Return the query rows of a threadgroup, which are the height of a mask tile.

    Raises
    ------
    InvalidArgument
        When the head_dim is no multiple of 4 from 4 to 256.
    """
    return _kernel(head_dim).queries


def threadgroup_memory_bytes(head_dim: int) -> int:
    """Return the bytes of threadgroup memory that a dispatch needs: at most 32 KiB.

    Raises
    ------
    InvalidArgument
        When the head_dim is no multiple of 4 from 4 to 256.
    """
    return _kernel(head_dim).threadgroup_memory


def dispatch_flash_attn_prefill_simdgroup_f16(
    encoder: CommandEncoder,
    registry: KernelRegistry,
    q: Buffer,
    k: Buffer,
    v: Buffer,
    mask: Buffer,
    blk: Buffer,
    out: Buffer,
    params: FlashAttnPrefillSimdgroupParams,
) -> None:
    """Encode attention of query rows over the K and V of their heads.

    Parameters
    ----------
    encoder
        Takes the dispatch.
    registry
        Has the kernels: see `register`. Others with the same names, bindings and parameter struct
        take their place.
    q
        f32 ``[rows, n_heads, head_dim]`` with the strides of the params. Each |scale·q| must be at
        most 65504: the kernel keeps them in half, where larger ones become infinite.
    k, v
        f16 ``[kv_pad, n_kv_heads, head_dim]`` with the strides of the params. Every value must be
        finite, the padding rows' zero: a key that the mask hides has weight 0, and 0·NaN is NaN.
    mask
        f16 ``[rows, kv_pad]``, added to the scores of every head; −inf hides a key, and must hide
        the padding.
    blk
        u8 ``[⌈rows / 32⌉, kv_pad / 64]``: the classes of the mask's tiles, by
        `dispatch_flash_attn_prefill_blk` with a `memory_barrier` after it, or ones. Tiles of class
        0 are skipped, keys and values included: a causal mask costs half.
    out
        f32 ``[rows, n_heads, head_dim]``, packed, written; zeros where a row sees no key.
    params
        The shapes, the strides and the scale; copied at once.

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
    OPERATION.dispatch(encoder, registry, q, k, v, mask, blk, out, params)
