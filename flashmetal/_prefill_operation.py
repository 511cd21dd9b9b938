"""What prefill operations share: their kernels take the same arguments, checked in one order."""

from __future__ import annotations

import operator
from collections.abc import Callable
from typing import NamedTuple

from ._buffer import Buffer
from ._checks import (
    Region,
    count_elems,
    need_alignment,
    need_disjoint,
    need_elems,
    need_kind,
    need_output,
    need_threads,
    need_tile_classes,
)
from ._device import Device
from ._encoder import CommandEncoder
from ._prefill_params import PrefillParams
from ._registry import KernelRegistry, misses_header
from .errors import InvalidArgument, InvalidType

__all__ = [
    "CACHE_ROWS_PER_STEP",
    "PrefillKernel",
    "PrefillOperation",
    "kv_pad",
    "threadgroup_memory",
    "to_head_dim",
]

CACHE_ROWS_PER_STEP = 64  # the width of a mask tile, too
SIMDGROUPS = 8
SIMDGROUP_THREADS = 32

# Argument indices of the kernels.
PARAMS, Q, K, V, MASK, BLK, OUT = range(7)

# What the loads and stores of q, k, v, mask and out need of the bound offsets, in bytes.
ALIGNMENTS = (16, 8, 8, 8, 16)
VECTOR = 4  # elements of a load, of which strides are multiples


class PrefillKernel(NamedTuple):
    """What a dispatch has to know of a kernel.

    Parameters
    ----------
    name
        Its entry point.
    queries
        Query rows of a threadgroup: the height of a mask tile.
    threadgroup_memory
        Bytes that a threadgroup needs.
    """

    name: str
    queries: int
    threadgroup_memory: int


class _Arguments(NamedTuple):
    q: Region
    k: Region
    v: Region
    mask: Region
    out: Region


def kv_pad(kv_len: int) -> int:
    """Return the rows of K and V, and the cells of a mask's row, with padding after `kv_len`.

    Raises InvalidType when that is no integer, and InvalidArgument when it is negative.
    """
    try:
        kv_len = operator.index(kv_len)
    except TypeError:
        raise InvalidType(f"kv_pad: kv_len must be an integer, got {kv_len!r}") from None
    if kv_len < 0:
        raise InvalidArgument(f"kv_pad: kv_len must not be negative, got {kv_len}")
    return -(-kv_len // CACHE_ROWS_PER_STEP) * CACHE_ROWS_PER_STEP


def threadgroup_memory(queries: int, width: int) -> int:
    """Return the bytes of query rows of `width` elements, their scores, weights and factors."""
    query = queries * width * 2
    scores_and_weights = queries * CACHE_ROWS_PER_STEP * (4 + 2)
    factors_and_flag = queries * 4 + 4
    return -(-(query + scores_and_weights + factors_and_flag) // 16) * 16


def to_head_dim(value: object) -> int:
    """Return an argument as an integer; 0, which no kernel serves, for what is none."""
    try:
        return operator.index(value)  # type: ignore[arg-type]
    except TypeError:
        return 0


class PrefillOperation(NamedTuple):
    """A family of prefill kernels.

    Parameters
    ----------
    name
        The operation, which errors name.
    params
        The class of its parameters.
    kernel
        Finds the kernel of a head_dim; raises InvalidArgument when there is none.
    header
        Of Metal's, without which a system cannot run the kernels.
    """

    name: str
    params: type[PrefillParams]
    kernel: Callable[[int], PrefillKernel]
    header: str

    def is_available(self, registry: KernelRegistry, device: Device, head_dim: int) -> bool:
        """Find out, once, whether the system has what a kernel needs."""
        need_kind(self.name, "registry", registry, KernelRegistry)
        available, _ = registry.probe_optional_pipeline(
            self.kernel(head_dim).name,
            lambda error: misses_header(error, self.header),
            device=device,
        )
        return available

    def dispatch(
        self,
        encoder: CommandEncoder,
        registry: KernelRegistry,
        q: Buffer,
        k: Buffer,
        v: Buffer,
        mask: Buffer,
        blk: Buffer,
        out: Buffer,
        params: PrefillParams,
    ) -> None:
        """Check the arguments, which the operations' own functions describe, and encode."""
        need_kind(self.name, "encoder", encoder, CommandEncoder)
        need_kind(self.name, "registry", registry, KernelRegistry)
        need_kind(self.name, "params", params, self.params)
        kernel = self.kernel(params.head_dim)
        words = self._check_params(params)
        tiles = -(-params.rows // kernel.queries), params.kv_pad // CACHE_ROWS_PER_STEP
        arguments = self._check_sizes((q, k, v, mask, out), params)
        classes = need_tile_classes(
            self.name, blk, tiles[0] * tiles[1], kernel.queries, CACHE_ROWS_PER_STEP
        )
        self._check_placement(arguments, classes, params)
        pipeline = registry.get_pipeline(kernel.name, device=encoder.device)
        need_threads(self.name, pipeline, SIMDGROUPS * SIMDGROUP_THREADS)
        encoder.dispatch(
            pipeline,
            {PARAMS: words, Q: q, K: k, V: v, MASK: mask, BLK: blk, OUT: out},
            (tiles[0], params.n_heads),
            (SIMDGROUP_THREADS, SIMDGROUPS),
            {0: kernel.threadgroup_memory},
        )

    def _check_params(self, params: PrefillParams) -> bytes:
        """Check the shape; return the struct's bytes."""
        if not (params.rows and params.n_heads and params.n_kv_heads and params.kv_pad):
            raise InvalidArgument(f"{self.name}: empty shape {params}")
        if params.n_heads % params.n_kv_heads:
            raise InvalidArgument(
                f"{self.name}: n_heads {params.n_heads} is not a multiple of "
                f"n_kv_heads {params.n_kv_heads}"
            )
        if params.kv_pad % CACHE_ROWS_PER_STEP:
            raise InvalidArgument(
                f"{self.name}: kv_pad {params.kv_pad} is not a multiple of {CACHE_ROWS_PER_STEP}"
            )
        words = params.pack()
        if params.q_row_stride % VECTOR or params.q_head_stride % VECTOR:
            raise InvalidArgument(
                f"{self.name}: Q strides must be multiples of {VECTOR} (float4 loads)"
            )
        return words

    def _check_sizes(
        self, buffers: tuple[Buffer, Buffer, Buffer, Buffer, Buffer], params: PrefillParams
    ) -> _Arguments:
        q, k, v, mask, out = buffers
        width = params.head_dim
        last_row, last_head = params.rows - 1, params.n_heads - 1
        last_key, last_kv_head = params.kv_pad - 1, params.n_kv_heads - 1
        q_count = count_elems(last_row, params.q_row_stride, last_head, params.q_head_stride, width)
        k_count = count_elems(
            last_key, params.k_row_stride, last_kv_head, params.k_head_stride, width
        )
        v_count = count_elems(
            last_key, params.v_row_stride, last_kv_head, params.v_head_stride, width
        )
        mask_count = params.rows * params.kv_pad
        out_count = params.rows * params.n_heads * width
        return _Arguments(
            need_elems(self.name, "q", q, "f32", q_count),
            need_elems(self.name, "k", k, "f16", k_count),
            need_elems(self.name, "v", v, "f16", v_count),
            need_elems(self.name, "mask", mask, "f16", mask_count),
            need_elems(self.name, "out", out, "f32", out_count),
        )

    def _check_placement(
        self, arguments: _Arguments, classes: Region, params: PrefillParams
    ) -> None:
        for region, alignment in zip(arguments, ALIGNMENTS, strict=True):
            need_alignment(self.name, region, alignment)
        strides = (
            params.k_row_stride,
            params.k_head_stride,
            params.v_row_stride,
            params.v_head_stride,
        )
        if any(stride % VECTOR for stride in strides):
            raise InvalidArgument(
                f"{self.name}: K and V strides must be multiples of {VECTOR} (half4 loads)"
            )
        need_disjoint(self.name, arguments.out, (*arguments[:-1], classes))
        need_output(self.name, arguments.out)
