"""Decode attention: one query token of every head over its f16 K/V cache."""

from __future__ import annotations

import operator
from typing import NamedTuple, SupportsIndex

from .._buffer import Buffer
from .._encoder import CommandEncoder
from .._params import FlashAttentionParams
from .._registry import KernelRegistry
from ..errors import InvalidArgument
from ..shipped import register_shader
from ._checks import (
    Region,
    count_elems,
    need_alignment,
    need_disjoint,
    need_elems,
    need_output,
    need_params,
    need_threads,
)

__all__ = [
    "FlashAttentionParams",
    "encode_attention",
    "encode_attention_q_offset",
    "kernel_name",
    "register",
]

OP = "flash_attention"
MAX_HEAD_DIM = 128
HEAD_DIM_UNIT = 4  # the kernel reads a cache row four elements at a time
THREADS = 256

# Kernels with head_dim as a compile-time constant; the general one takes all others.
GENERAL_KERNEL = "flash_attention"
SPECIAL_KERNELS = {64: "flash_attention_hd64", 128: "flash_attention_hd128"}

# Argument indices of the kernels.
Q, K_CACHE, V_CACHE, OUT, PARAMS = range(5)


# What the loads and stores of q, k_cache, v_cache and out need of the bound offsets, in bytes.
ALIGNMENTS = (4, 8, 8, 4)


class _Arguments(NamedTuple):
    q: Region
    k_cache: Region
    v_cache: Region
    out: Region


def kernel_name(head_dim: int) -> str:
    """Return the name of the kernel that serves a head_dim."""
    return SPECIAL_KERNELS.get(head_dim, GENERAL_KERNEL)


def supports_head_dim(head_dim: int) -> bool:
    """Whether a kernel serves a head_dim."""
    return head_dim <= MAX_HEAD_DIM and head_dim % HEAD_DIM_UNIT == 0


def register(registry: KernelRegistry) -> None:
    """Register the shipped kernels of this operation."""
    register_shader(registry, "flash_attention", (GENERAL_KERNEL, *SPECIAL_KERNELS.values()))


def encode_attention(
    encoder: CommandEncoder,
    registry: KernelRegistry,
    q: Buffer,
    k_cache: Buffer,
    v_cache: Buffer,
    out: Buffer,
    params: FlashAttentionParams,
) -> None:
    """Encode attention of one query token over the first seq_len rows of a K/V cache.

    Parameters
    ----------
    encoder
        Takes the dispatch.
    registry
        Has the kernels: see `register`. Others with the same names, bindings and parameter struct
        take their place.
    q
        f32 ``[n_heads, head_dim]``.
    k_cache, v_cache
        f16 ``[≥ seq_len, n_kv_heads, head_dim]``.
    out
        f32 ``[n_heads, head_dim]``, written; zeros when seq_len is 0.
    params
        The shapes and the scale; copied at once.

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
    _encode("encode_attention", encoder, registry, (q, k_cache, v_cache, out), params, 0, 0)


def encode_attention_q_offset(
    encoder: CommandEncoder,
    registry: KernelRegistry,
    q: Buffer,
    k_cache: Buffer,
    v_cache: Buffer,
    out: Buffer,
    params: FlashAttentionParams,
    q_off_bytes: SupportsIndex,
    out_off_bytes: SupportsIndex,
) -> None:
    """Encode attention as `encode_attention` does, of a query token inside larger buffers.

    Parameters
    ----------
    q_off_bytes, out_off_bytes
        Where the token starts in `q` and `out`, on top of their own offsets; multiples of 4.
    """
    offsets = _offset("q_off_bytes", q_off_bytes), _offset("out_off_bytes", out_off_bytes)
    buffers = (q, k_cache, v_cache, out)
    _encode("encode_attention_q_offset", encoder, registry, buffers, params, *offsets)


def _offset(name: str, value: SupportsIndex) -> int:
    try:
        offset = operator.index(value)
    except TypeError:
        offset = -1
    if offset < 0:
        raise InvalidArgument(f"{OP}: {name} must be an integer from 0 on, got {value!r}")
    return offset


def _encode(
    function: str,
    encoder: CommandEncoder,
    registry: KernelRegistry,
    buffers: tuple[Buffer, Buffer, Buffer, Buffer],
    params: FlashAttentionParams,
    q_offset: int,
    out_offset: int,
) -> None:
    _check_params(function, params)
    arguments = _check_buffers(buffers, params, q_offset, out_offset)
    kernel = kernel_name(params.head_dim)
    pipeline = registry.get_pipeline(kernel, device=encoder.device)
    need_threads(OP, pipeline, THREADS)
    encoder.dispatch(pipeline, _bind(arguments, params), params.n_heads, THREADS)


def _check_params(function: str, params: FlashAttentionParams) -> None:
    need_params(OP, params, FlashAttentionParams)
    if not supports_head_dim(params.head_dim):
        raise InvalidArgument(
            f"{OP}: {function} requires head_dim ≤ {MAX_HEAD_DIM} and divisible by "
            f"{HEAD_DIM_UNIT}, got {params.head_dim}"
        )
    if not (params.n_heads and params.n_kv_heads and params.head_dim):
        raise InvalidArgument(f"{OP}: empty shape {params}")
    if params.n_heads % params.n_kv_heads:
        raise InvalidArgument(
            f"{OP}: n_heads {params.n_heads} is not a multiple of n_kv_heads {params.n_kv_heads}"
        )


def _check_buffers(
    buffers: tuple[Buffer, Buffer, Buffer, Buffer],
    params: FlashAttentionParams,
    q_offset: int,
    out_offset: int,
) -> _Arguments:
    head_dim = params.head_dim
    last_row, last_kv_head = params.seq_len - 1, params.n_kv_heads - 1
    token = count_elems(0, 0, params.n_heads - 1, head_dim, head_dim)
    cache = count_elems(last_row, params.kv_dim, last_kv_head, head_dim, head_dim)
    q, k_cache, v_cache, out = buffers
    arguments = _Arguments(
        need_elems(OP, "q", q, "f32", token, q_offset),
        need_elems(OP, "k_cache", k_cache, "f16", cache),
        need_elems(OP, "v_cache", v_cache, "f16", cache),
        need_elems(OP, "out", out, "f32", token, out_offset),
    )
    for region, alignment in zip(arguments, ALIGNMENTS, strict=True):
        need_alignment(OP, region, alignment)
    need_disjoint(OP, arguments.out, arguments[:-1])
    need_output(OP, arguments.out)
    return arguments


def _bind(arguments: _Arguments, params: FlashAttentionParams) -> dict:
    return {
        Q: (arguments.q.buffer, arguments.q.offset),
        K_CACHE: arguments.k_cache.buffer,
        V_CACHE: arguments.v_cache.buffer,
        OUT: (arguments.out.buffer, arguments.out.offset),
        PARAMS: params.pack(),
    }
