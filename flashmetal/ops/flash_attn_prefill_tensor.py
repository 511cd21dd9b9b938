"""Prefill attention: many query rows over padded f16 K and V, on Metal 4's tensor API."""

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
from .._prefill_params import FlashAttnPrefillTensorParams
from .._registry import KernelRegistry
from ..errors import InvalidArgument
from ..shipped import register_shader

__all__ = [
    "CACHE_ROWS_PER_STEP",
    "K_TENSOR_F16_D256",
    "K_TENSOR_F16_D512",
    "FlashAttnPrefillTensorParams",
    "dispatch_flash_attn_prefill_tensor_f16",
    "flash_attn_prefill_tensor_available",
    "kv_pad",
    "queries_per_threadgroup",
    "register",
    "threadgroup_memory_bytes",
]

OP = "flash_attn_prefill_tensor"

K_TENSOR_F16_D256 = "flash_attn_prefill_tensor_f16_d256"
K_TENSOR_F16_D512 = "flash_attn_prefill_tensor_f16_d512"

_KERNELS = {
    head_dim: PrefillKernel(name, queries, threadgroup_memory(queries, head_dim))
    for head_dim, name, queries in ((256, K_TENSOR_F16_D256, 32), (512, K_TENSOR_F16_D512, 16))
}
HEAD_DIMS = tuple(_KERNELS)


def _kernel(head_dim: int) -> PrefillKernel:
    kernel = _KERNELS.get(to_head_dim(head_dim))
    if kernel is None:
        widths = " or ".join(map(str, HEAD_DIMS))
        raise InvalidArgument(f"{OP}: unsupported head_dim {head_dim} ({widths})")
    return kernel


OPERATION = PrefillOperation(OP, FlashAttnPrefillTensorParams, _kernel, "metal_tensor")


def register(registry: KernelRegistry) -> None:
    """Register the shipped kernels of this operation."""
    need_kind(OP, "registry", registry, KernelRegistry)
    register_shader(registry, OP, (kernel.name for kernel in _KERNELS.values()))


def flash_attn_prefill_tensor_available(
    registry: KernelRegistry, device: Device, head_dim: int
) -> bool:
    """Whether the system can run the kernel: False only where `<metal_tensor>` is missing.

    The first call compiles the kernel; its verdict is remembered until the name is registered anew.

    Parameters
    ----------
    registry
        Has the kernels: see `register`.
    device
        The registry's.
    head_dim
        256 or 512.

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
        When the head_dim is neither 256 nor 512.
    """
    return _kernel(head_dim).queries


def threadgroup_memory_bytes(head_dim: int) -> int:
    """Return the bytes of threadgroup memory that a dispatch needs.

    Raises
    ------
    InvalidArgument
        When the head_dim is neither 256 nor 512.
    """
    return _kernel(head_dim).threadgroup_memory


def dispatch_flash_attn_prefill_tensor_f16(
    encoder: CommandEncoder,
    registry: KernelRegistry,
    q: Buffer,
    k: Buffer,
    v: Buffer,
    mask: Buffer,
    blk: Buffer,
    out: Buffer,
    params: FlashAttnPrefillTensorParams,
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
        u8 ``[⌈rows / queries_per_threadgroup⌉, kv_pad / 64]``: the classes of the mask's tiles, by
        `dispatch_flash_attn_prefill_blk` with a `memory_barrier` after it, or ones.
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
        When it does not compile; `flash_attn_prefill_tensor_available` tells whether the system
        lacks the tensor API.
    InvalidState
        When the encoder is committed, discarded or in use by another thread.
    """
    OPERATION.dispatch(encoder, registry, q, k, v, mask, blk, out, params)
