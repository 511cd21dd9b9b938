"""What `flashmetal verify` runs: one call of a kernel a case, judged against float64."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import ClassVar, NamedTuple, TypeAlias

import numpy as np

from ._prefill import PrefillBuffers
from ._registry import KernelRegistry
from .ops import (
    flash_attention,
    flash_attn_prefill_blk,
    flash_attn_prefill_simdgroup,
    flash_attn_prefill_tensor,
)
from .ops.flash_attention import FlashAttentionParams, encode_attention, kernel_name
from .prefill_problems import MASKS, PrefillShape, make_prefill_problem
from .problems import KINDS, DecodeProblem, DecodeShape, make_problem
from .reference import (
    DECODE_LIMITS,
    PREFILL_LIMITS,
    Accuracy,
    Limits,
    compare,
    decode_reference,
    prefill_reference,
)

__all__ = ["OPERATIONS", "Case", "DecodeCase", "Operation", "PrefillCase", "grid"]

_DECODE_THREADS = 256

# Rows after the cache's last one, NaN: a kernel that reads one shows it.
_POISONED_ROWS = 2

_GENERAL_DECODE = kernel_name(4)
_HOSTILE_KINDS = [kind for kind in KINDS if kind != "normal"]


@dataclass(frozen=True)
class DecodeCase:
    """One decode call."""

    operation: ClassVar[str] = "flash_attention"

    shape: DecodeShape
    kind: str
    kernel: str | None = None  # dispatched directly; None for the one that `encode_attention` picks

    def __str__(self) -> str:
        entry = f", {self.kernel}" if self.kernel else ""
        return _describe(self.kind + entry, self.shape)

    @property
    def is_unit_normal(self) -> bool:
        """Whether the limits of the mean errors apply."""
        return self.kind == "normal"

    def measure(self, registry: KernelRegistry) -> Accuracy:
        """Run the call and compare its output with float64."""
        problem = make_problem(self.shape, self.kind)
        reference = decode_reference(problem.q, problem.k, problem.v)
        return compare(_decode(registry, problem, self.kernel), reference)


_PREFILL_OPERATIONS = {
    module.OP: module.OPERATION
    for module in (flash_attn_prefill_tensor, flash_attn_prefill_simdgroup)
}


@dataclass(frozen=True)
class PrefillCase:
    """One prefill call."""

    operation: str
    shape: PrefillShape
    kind: str
    mask: str

    def __str__(self) -> str:
        return _describe(f"{self.kind}, mask {self.mask}", self.shape)

    @property
    def is_unit_normal(self) -> bool:
        """Whether the limits of the mean errors apply: not beside −65504, which swallows scores."""
        return self.kind == "normal" and self.mask != "finite"

    def measure(self, registry: KernelRegistry) -> Accuracy:
        """Classify the mask's tiles, run the call and compare its output with float64."""
        problem = make_prefill_problem(self.shape, self.kind, self.mask)
        buffers = PrefillBuffers.fill(
            _PREFILL_OPERATIONS[self.operation],
            registry.device.alloc,
            problem.q,
            problem.k,
            problem.v,
            lambda cells: np.copyto(cells, problem.mask),
        )
        np.asarray(buffers.out)[...] = np.nan
        with registry.device.encoder() as encoder:
            buffers.encode(encoder, registry, None)
        reference = prefill_reference(problem.q, problem.k, problem.v, problem.mask)
        return compare(np.array(buffers.out), reference)


Case: TypeAlias = DecodeCase | PrefillCase


class Operation(NamedTuple):
    """What `verify` has to know of an operation.

    Parameters
    ----------
    register
        Registers its kernels.
    limits
        Of the mean errors on unit-normal inputs.
    lacks
        What an engine of a device lacks to run it; None when it can.
    """

    register: Callable[[KernelRegistry], None]
    limits: Limits
    lacks: Callable[[str, KernelRegistry], str | None]


def _register_tensor(registry: KernelRegistry) -> None:
    flash_attn_prefill_tensor.register(registry)
    flash_attn_prefill_blk.register(registry)


def _register_simdgroup(registry: KernelRegistry) -> None:
    flash_attn_prefill_simdgroup.register(registry)
    flash_attn_prefill_blk.register(registry)


def _lacks_nothing(engine: str, registry: KernelRegistry) -> None:
    return None


def _tensor_lacks(engine: str, registry: KernelRegistry) -> str | None:
    available = all(
        flash_attn_prefill_tensor.flash_attn_prefill_tensor_available(
            registry, registry.device, head_dim
        )
        for head_dim in flash_attn_prefill_tensor.HEAD_DIMS
    )
    return None if available else "Metal's tensor API"


def _simdgroup_lacks(engine: str, registry: KernelRegistry) -> str | None:
    available = flash_attn_prefill_simdgroup.flash_attn_prefill_simdgroup_available(
        registry, registry.device, flash_attn_prefill_simdgroup.MAX_HEAD_DIM
    )
    return None if available else "simdgroup_matrix"


OPERATIONS = {
    DecodeCase.operation: Operation(flash_attention.register, DECODE_LIMITS, _lacks_nothing),
    flash_attn_prefill_tensor.OP: Operation(_register_tensor, PREFILL_LIMITS, _tensor_lacks),
    flash_attn_prefill_simdgroup.OP: Operation(
        _register_simdgroup, PREFILL_LIMITS, _simdgroup_lacks
    ),
}


def grid(quick: bool = False) -> list[Case]:
    """Return the cases of all operations; `quick` gives fewer, a few seconds long."""
    return [*_decode_cases(quick), *_tensor_cases(quick), *_simdgroup_cases(quick)]


def _decode_cases(quick: bool) -> list[DecodeCase]:
    """Return head_dims, group sizes, lengths around the kernel's tiles, hostile values.

    Lengths of thousands of rows, of which little else depends, take turns.
    """
    if quick:
        head_dims: Sequence[int] = (4, 36, 64, 80, 96, 128)
        heads: Sequence[tuple[int, int]] = ((1, 1), (6, 2), (14, 2))
        lengths: Sequence[int] = (0, 1, 33, 256, 257)
        long_lengths: Sequence[int] = (1000,)
        longest: Sequence[tuple[int, int]] = ()
        hostile_lengths: Sequence[int] = (257,)
    else:
        head_dims = range(4, 129, 4)
        heads = ((1, 1), (4, 2), (6, 2), (8, 2), (14, 2), (16, 2), (71, 1))
        lengths = (0, 1, 2, 31, 33, 255, 256, 257, 511, 513)
        long_lengths = (4095, 4096, 4097)
        longest = tuple(itertools.product((4, 64, 80, 128), (20_000, 100_000)))
        hostile_lengths = (2, 257, 1000)
    widths = list(itertools.product(head_dims, heads))
    ordinary = [
        DecodeCase(DecodeShape(*pair, head_dim, length), "normal")
        for (head_dim, pair), long_length in zip(
            widths, itertools.cycle(long_lengths), strict=False
        )
        for length in (*lengths, long_length)
    ]
    specialised = [head_dim for head_dim in head_dims if kernel_name(head_dim) != _GENERAL_DECODE]
    ordinary += [
        DecodeCase(DecodeShape(4, 2, head_dim, length), "normal", _GENERAL_DECODE)
        for head_dim, length in itertools.product(specialised, (*lengths, *long_lengths))
    ]
    ordinary += [
        DecodeCase(DecodeShape(1, 1, head_dim, length), "normal") for head_dim, length in longest
    ]
    hostile = (
        DecodeCase(DecodeShape(6, 2, head_dim, length), kind)
        for head_dim, length, kind in itertools.product(head_dims, hostile_lengths, _HOSTILE_KINDS)
    )
    return [*ordinary, *hostile]


def _tensor_cases(quick: bool) -> list[PrefillCase]:
    """Return rows and lengths around the kernels' tiles under all masks, hostile values."""
    if quick:
        sizes: Sequence[tuple[int, int]] = ((1, 65), (17, 64), (33, 200))
        heads: Sequence[tuple[int, int]] = ((2, 1),)
        hostile_masks: Sequence[str] = ("causal",)
    else:
        rows = (1, 8, 15, 17, 32, 33, 64, 130)
        sizes = tuple(itertools.product(rows, (1, 63, 65, 256, 700, 1400)))
        heads = ((1, 1), (4, 2))
        hostile_masks = tuple(MASKS)
    head_dims = flash_attn_prefill_tensor.HEAD_DIMS
    ordinary = (
        PrefillCase(
            flash_attn_prefill_tensor.OP,
            PrefillShape(rows, *pair, head_dim, kv_len),
            "normal",
            mask,
        )
        for head_dim, pair in itertools.product(head_dims, heads)
        for (rows, kv_len), mask in _pair_up(sizes, list(MASKS))
    )
    hostile = _hostile_cases(flash_attn_prefill_tensor.OP, head_dims, hostile_masks)
    return [*ordinary, *hostile]


def _simdgroup_cases(quick: bool) -> list[PrefillCase]:
    """Return the same for all head_dims, the sizes taking turns."""
    kernels = (*flash_attn_prefill_simdgroup.SPECIALISED_HEAD_DIMS, 4, 100)
    if quick:
        head_dims: Sequence[int] = kernels
        sizes: Sequence[tuple[int, int]] = ((1, 65), (33, 64), (33, 130))
        hostile_masks: Sequence[str] = ("causal",)
    else:
        head_dims = range(4, 257, 4)
        sizes = tuple(itertools.product((1, 8, 31, 33, 70), (1, 63, 65, 200)))
        hostile_masks = tuple(MASKS)
    ordinary = (
        PrefillCase(
            flash_attn_prefill_simdgroup.OP,
            PrefillShape(rows, 2, 1, head_dim, kv_len),
            "normal",
            mask,
        )
        for head_dim in head_dims
        for (rows, kv_len), mask in _pair_up(sizes, list(MASKS))
    )
    return [*ordinary, *_hostile_cases(flash_attn_prefill_simdgroup.OP, kernels, hostile_masks)]


def _hostile_cases(
    operation: str, head_dims: Sequence[int], masks: Sequence[str]
) -> Iterator[PrefillCase]:
    for head_dim, kind, mask in itertools.product(head_dims, _HOSTILE_KINDS, masks):
        yield PrefillCase(operation, PrefillShape(33, 4, 2, head_dim, 200), kind, mask)


def _pair_up(
    sizes: Sequence[tuple[int, int]], masks: Sequence[str]
) -> list[tuple[tuple[int, int], str]]:
    """Pair the longer of two sequences with the other, again and again."""
    count = max(len(sizes), len(masks))
    cycles = itertools.cycle(sizes), itertools.cycle(masks)
    return list(itertools.islice(zip(*cycles, strict=False), count))


def _describe(kind: str, shape: DecodeShape | PrefillShape) -> str:
    sizes = ", ".join(f"{name} {size}" for name, size in shape._asdict().items())
    return f"{kind}: {sizes}"


def _decode(registry: KernelRegistry, problem: DecodeProblem, kernel: str | None) -> np.ndarray:
    n_heads, n_kv_heads, head_dim, seq_len = problem.shape
    device = registry.device
    kv_shape = (seq_len + _POISONED_ROWS, n_kv_heads, head_dim)
    q = device.alloc(problem.q.shape, "f32")
    k, v = device.alloc(kv_shape, "f16"), device.alloc(kv_shape, "f16")
    out = device.alloc(problem.q.shape, "f32")

    np.asarray(q)[...] = problem.q
    np.asarray(out)[...] = np.nan
    for buffer, rows in ((k, problem.k), (v, problem.v)):
        cache = np.asarray(buffer)
        cache[:seq_len] = rows
        cache[seq_len:] = np.nan

    params = FlashAttentionParams(
        n_heads=n_heads, n_kv_heads=n_kv_heads, head_dim=head_dim, seq_len=seq_len
    )
    encoder = device.encoder()
    if kernel is None:
        encode_attention(encoder, registry, q, k, v, out, params)
    else:
        encoder.dispatch(
            registry.get_pipeline(kernel),
            {0: q, 1: k, 2: v, 3: out, 4: params.pack()},
            n_heads,
            _DECODE_THREADS,
        )
    encoder.commit_and_wait()
    return np.array(out)
