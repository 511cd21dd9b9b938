"""The shipped shaders on an NVIDIA GPU: what flashmetal's ops do on Metal, through CuPy."""

from __future__ import annotations

import functools
import pathlib
from typing import NamedTuple

import cupy
import numpy as np
from translate import translate

__all__ = [
    "SHADERS",
    "PrefillKernel",
    "classify",
    "decode",
    "prefill",
    "simdgroup_kernels",
    "tensor_kernel",
    "use_shaders",
]

SHADERS = pathlib.Path(__file__).parents[2] / "shaders"
OPTIONS = ("-std=c++20", "--device-as-default-execution-space")
BK = 64


class PrefillKernel(NamedTuple):
    """A prefill kernel, and what its op would pass.

    Parameters
    ----------
    shader, name
        The file without its suffix, and the entry point.
    bq
        Query rows of a threadgroup.
    threadgroup_memory
        Bytes.
    word_is_mask_stride
        Of the struct's word before the scale, which is head_dim otherwise.
    """

    shader: str
    name: str
    bq: int
    threadgroup_memory: int
    word_is_mask_stride: bool


def tensor_kernel(head_dim: int) -> PrefillKernel:
    """Return the tensor kernel of a head_dim, 256 or 512."""
    shader = "flash_attn_prefill_tensor"
    bq, threadgroup_memory = {256: (32, 28816), 512: (16, 22608)}[head_dim]
    return PrefillKernel(shader, f"{shader}_f16_d{head_dim}", bq, threadgroup_memory, True)


def simdgroup_kernels(head_dim: int) -> list[PrefillKernel]:
    """Return the general kernel on simdgroup_matrix, and that of the head_dim if there is one."""
    shader, bq = "flash_attn_prefill_simdgroup", 32
    width = -(-head_dim // 8) * 8
    threadgroup_memory = 12432 + bq * width * 2 + (2048 if width > head_dim else 0)
    names = [f"{shader}_f16", f"{shader}_f16_d{head_dim}"][: 2 if head_dim in SPECIALISED else 1]
    return [PrefillKernel(shader, name, bq, threadgroup_memory, False) for name in names]


SPECIALISED = (64, 80, 96, 128, 256)


_folder = SHADERS


def use_shaders(folder: pathlib.Path) -> None:
    """Take the shaders from another folder, e.g. with a fault put in."""
    global _folder  # noqa: PLW0603 as the kernels' only state
    _folder = folder


@functools.cache
def _module(shader: str, *constants: tuple[int, int]) -> tuple[cupy.RawModule, dict[str, str]]:
    text, kernels = translate((_folder / f"{shader}.metal").read_text(), dict(constants))
    return cupy.RawModule(
        code=text, options=OPTIONS, name_expressions=list(kernels.values())
    ), kernels


def _launch(
    shader: str,
    kernel: str,
    grid: tuple[int, ...],
    block: tuple[int, ...],
    arguments: list[cupy.ndarray],
    constants: tuple[tuple[int, int], ...] = (),
    threadgroup_memory: int = 0,
) -> None:
    module, kernels = _module(shader, *constants)
    function = module.get_function(kernels[kernel])
    function(grid, block, tuple(arguments), shared_mem=threadgroup_memory)


def _words(*values: float) -> cupy.ndarray:
    packed = [np.float32(x).view(np.int32) if isinstance(x, float) else np.int32(x) for x in values]
    return cupy.asarray(np.array(packed, np.int32))


def decode(q: np.ndarray, k: np.ndarray, v: np.ndarray, kernel: str) -> np.ndarray:
    """Run an entry of flash_attention.metal; NaN lies behind the cache's rows."""
    n_heads, head_dim = q.shape
    seq_len, n_kv_heads, _ = k.shape
    padding = np.full((2, n_kv_heads, head_dim), np.nan, np.float16)
    k, v = (cupy.asarray(np.concatenate((rows, padding))) for rows in (k, v))
    scale = float(np.float32(head_dim**-0.5))
    params = _words(n_heads, n_kv_heads, head_dim, n_kv_heads * head_dim, seq_len, scale, 0, 0)
    out = cupy.full(q.shape, cupy.nan, cupy.float32)
    arguments = [cupy.asarray(q), k, v, out, params]
    _launch("flash_attention", kernel, (n_heads,), (256,), arguments)
    return cupy.asnumpy(out)


def classify(mask: np.ndarray, bq: int) -> np.ndarray:
    """Run flash_attn_prefill_blk.metal on an f16 mask ``[rows, kv_pad]``."""
    rows, kv_pad = mask.shape
    blk = cupy.full((-(-rows // bq), kv_pad // BK), 255, cupy.uint8)
    arguments = [cupy.asarray(mask), blk, _words(rows, kv_pad, kv_pad, 0)]
    _launch(
        "flash_attn_prefill_blk",
        "flash_attn_prefill_blk_f16",
        blk.shape[::-1],
        (32,),
        arguments,
        constants=((400, bq), (401, BK)),
    )
    return cupy.asnumpy(blk)


def prefill(
    q: np.ndarray, k: np.ndarray, v: np.ndarray, mask: np.ndarray, kernel: PrefillKernel
) -> np.ndarray:
    """Run a prefill kernel: rows of padding are zero and hidden, and NaN lies behind them."""
    rows, n_heads, head_dim = q.shape
    kv_len, n_kv_heads, _ = k.shape
    kv_pad = -(-kv_len // BK) * BK
    k, v = (cupy.asarray(_pad_rows(array, kv_pad)) for array in (k, v))
    mask = np.pad(mask, ((0, 0), (0, kv_pad - kv_len)), constant_values=-np.inf)
    blk = cupy.asarray(classify(mask, kernel.bq))
    heads = (n_heads, n_kv_heads, n_kv_heads)
    strides = [stride for count in heads for stride in (count * head_dim, head_dim)]
    last = kv_pad if kernel.word_is_mask_stride else head_dim
    scale = float(np.float32(head_dim**-0.5))
    params = _words(rows, n_heads, n_kv_heads, kv_pad, *strides, last, scale)
    out = cupy.full(q.shape, cupy.nan, cupy.float32)
    _launch(
        kernel.shader,
        kernel.name,
        (-(-rows // kernel.bq), n_heads),
        (32, 8),
        [params, cupy.asarray(q), k, v, cupy.asarray(mask), blk, out],
        threadgroup_memory=kernel.threadgroup_memory,
    )
    return cupy.asnumpy(out)


def _pad_rows(array: np.ndarray, kv_pad: int) -> np.ndarray:
    padded = np.zeros((kv_pad + 2, *array.shape[1:]), np.float16)
    padded[: len(array)] = array
    padded[kv_pad:] = np.nan
    return padded
