"""Decode attention: one query token of every head over its f16 K/V cache."""

from __future__ import annotations

from .._checks import need_kind
from .._flash_attention import (
    KERNELS,
    MAX_HEAD_DIM,
    encode_attention,
    encode_attention_q_offset,
    kernel_name,
    supports_head_dim,
)
from .._params import FlashAttentionParams
from .._registry import KernelRegistry
from ..shipped import register_shader

__all__ = [
    "MAX_HEAD_DIM",
    "FlashAttentionParams",
    "encode_attention",
    "encode_attention_q_offset",
    "kernel_name",
    "register",
    "supports_head_dim",
]


def register(registry: KernelRegistry) -> None:
    """Register the shipped kernels of this operation."""
    need_kind("flash_attention", "registry", registry, KernelRegistry)
    register_shader(registry, "flash_attention", KERNELS)
