"""Prefill attention: many query rows over padded f16 K and V, on Metal 4's tensor API."""

from __future__ import annotations

from typing import NamedTuple

from .._buffer import Buffer
from .._checks import (
    Region,
    count_elems,
    need_alignment,
    need_disjoint,
    need_elems,
    need_output,
    need_params,
    need_threads,
    need_tile_classes,
)
from .._device import Device
from .._encoder import CommandEncoder
from .._prefill_params import FlashAttnPrefillTensorParams
from .._registry import KernelRegistry, is_unavailable_tensor_header
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

CACHE_ROWS_PER_STEP = 64  # the width of a mask tile, too
SIMDGROUPS = 8
SIMDGROUP_THREADS = 32

# Argument indices of the kernels.
PARAMS, Q, K, V, MASK, BLK, OUT = range(7)

# What the loads and stores of q, k, v, mask and out need of the bound offsets, in bytes.
ALIGNMENTS = (16, 8, 8, 8, 16)
VECTOR = 4  # elements of a load, of which strides are multiples


class _Kernel(NamedTuple):
    name: str
    queries: int  # per threadgroup


_KERNELS = {256: _Kernel(K_TENSOR_F16_D256, 32), 512: _Kernel(K_TENSOR_F16_D512, 16)}
HEAD_DIMS = tuple(_KERNELS)


class _Arguments(NamedTuple):
    q: Region
    k: Region
    v: Region
    mask: Region
    out: Region


def _kernel(head_dim: int) -> _Kernel:
    kernel = _KERNELS.get(head_dim)
    if kernel is None:
        widths = " or ".join(map(str, HEAD_DIMS))
        raise InvalidArgument(f"{OP}: unsupported head_dim {head_dim} ({widths})")
    return kernel


def register(registry: KernelRegistry) -> None:
    """Register the shipped kernels of this operation."""
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
    kernel = _kernel(head_dim)
    available, _ = registry.probe_optional_pipeline(
        kernel.name, is_unavailable_tensor_header, device=device
    )
    return available


def queries_per_threadgroup(head_dim: int) -> int:
    """Return the query rows of a threadgroup, which are the height of a mask tile.

    Raises
    ------
    InvalidArgument
        When the head_dim is neither 256 nor 512.
    """
    return _kernel(head_dim).queries


def kv_pad(kv_len: int) -> int:
    """Return the rows of K and V, and the cells of a mask's row, with padding after `kv_len`."""
    return -(-kv_len // CACHE_ROWS_PER_STEP) * CACHE_ROWS_PER_STEP


def threadgroup_memory_bytes(head_dim: int) -> int:
    """Return the bytes of threadgroup memory that a dispatch needs.

    Raises
    ------
    InvalidArgument
        When the head_dim is neither 256 nor 512.
    """
    queries = queries_per_threadgroup(head_dim)
    query = queries * head_dim * 2
    scores_and_weights = queries * CACHE_ROWS_PER_STEP * (4 + 2)
    factors_and_flag = queries * 4 + 4
    return -(-(query + scores_and_weights + factors_and_flag) // 16) * 16


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
    need_params(OP, params, FlashAttnPrefillTensorParams)
    kernel = _kernel(params.head_dim)
    words = _check_params(params)
    tiles = -(-params.rows // kernel.queries), params.kv_pad // CACHE_ROWS_PER_STEP
    arguments = _check_sizes((q, k, v, mask, out), params)
    classes = need_tile_classes(OP, blk, tiles[0] * tiles[1], kernel.queries, CACHE_ROWS_PER_STEP)
    _check_placement(arguments, classes, params)
    pipeline = registry.get_pipeline(kernel.name, device=encoder.device)
    need_threads(OP, pipeline, SIMDGROUPS * SIMDGROUP_THREADS)
    encoder.dispatch(
        pipeline,
        {PARAMS: words, Q: q, K: k, V: v, MASK: mask, BLK: blk, OUT: out},
        (tiles[0], params.n_heads),
        (SIMDGROUP_THREADS, SIMDGROUPS),
        {0: threadgroup_memory_bytes(params.head_dim)},
    )


def _check_params(params: FlashAttnPrefillTensorParams) -> bytes:
    """Check the shape; return the struct's bytes."""
    if not (params.rows and params.n_heads and params.n_kv_heads and params.kv_pad):
        raise InvalidArgument(f"{OP}: empty shape {params}")
    if params.n_heads % params.n_kv_heads:
        raise InvalidArgument(
            f"{OP}: n_heads {params.n_heads} is not a multiple of n_kv_heads {params.n_kv_heads}"
        )
    if params.kv_pad % CACHE_ROWS_PER_STEP:
        raise InvalidArgument(
            f"{OP}: kv_pad {params.kv_pad} is not a multiple of {CACHE_ROWS_PER_STEP}"
        )
    words = params.pack()
    if params.q_row_stride % VECTOR or params.q_head_stride % VECTOR:
        raise InvalidArgument(f"{OP}: Q strides must be multiples of {VECTOR} (float4 loads)")
    return words


def _check_sizes(
    buffers: tuple[Buffer, Buffer, Buffer, Buffer, Buffer], params: FlashAttnPrefillTensorParams
) -> _Arguments:
    q, k, v, mask, out = buffers
    width = params.head_dim
    last_row, last_head = params.rows - 1, params.n_heads - 1
    last_key, last_kv_head = params.kv_pad - 1, params.n_kv_heads - 1
    q_count = count_elems(last_row, params.q_row_stride, last_head, params.q_head_stride, width)
    k_count = count_elems(last_key, params.k_row_stride, last_kv_head, params.k_head_stride, width)
    v_count = count_elems(last_key, params.v_row_stride, last_kv_head, params.v_head_stride, width)
    mask_count = params.rows * params.kv_pad
    out_count = params.rows * params.n_heads * width
    return _Arguments(
        need_elems(OP, "q", q, "f32", q_count),
        need_elems(OP, "k", k, "f16", k_count),
        need_elems(OP, "v", v, "f16", v_count),
        need_elems(OP, "mask", mask, "f16", mask_count),
        need_elems(OP, "out", out, "f32", out_count),
    )


def _check_placement(
    arguments: _Arguments, classes: Region, params: FlashAttnPrefillTensorParams
) -> None:
    for region, alignment in zip(arguments, ALIGNMENTS, strict=True):
        need_alignment(OP, region, alignment)
    strides = (
        params.k_row_stride,
        params.k_head_stride,
        params.v_row_stride,
        params.v_head_stride,
    )
    if any(stride % VECTOR for stride in strides):
        raise InvalidArgument(f"{OP}: K and V strides must be multiples of {VECTOR} (half4 loads)")
    need_disjoint(OP, arguments.out, (*arguments[:-1], classes))
    need_output(OP, arguments.out)
