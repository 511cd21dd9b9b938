"""Runs the shipped shaders, translated to CUDA, on an NVIDIA GPU, and judges them by float64.

Real threads check the arithmetic, the barriers and the indices: run it under
`compute-sanitizer --tool racecheck` (or memcheck) with --few. Needs CuPy.
"""

from __future__ import annotations

import argparse
import itertools
import pathlib
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any

import gpu_kernels
import numpy as np
import pure_modules

problems, prefill_problems, reference = pure_modules.load(
    "problems", "prefill_problems", "reference"
)


@dataclass
class Tally:
    """What the cases of one shader came to."""

    cases: int = 0
    nmse: float = 0.0
    ratio: float = 0.0
    failures: list[str] = field(default_factory=list)

    def add(self, name: str, accuracy: Any, has_limits: bool) -> None:
        """Count a case in."""
        self.cases += 1
        self.ratio = max(self.ratio, accuracy.ratio)
        if has_limits:
            self.nmse = max(self.nmse, accuracy.nmse)
        if not accuracy.within_bound or (has_limits and not accuracy.within_nmse_limits):
            self.failures.append(
                f"{name}: NMSE {accuracy.nmse:.2g}, |Δ|/bound {accuracy.ratio:.2g}"
            )


def check_decode(few: bool) -> Tally:
    """Every entry point over lengths around its tiles, and hostile values."""
    head_dims = (36, 64) if few else (4, 36, 64, 80, 100, 128)
    lengths = (300,) if few else (0, 1, 255, 256, 257, 1000, 4097, 20000)
    shapes = [
        problems.DecodeShape(*heads, head_dim, length)
        for heads, head_dim, length in itertools.product(
            ((6, 2),) if few else ((1, 1), (6, 2), (32, 8)), head_dims, lengths
        )
    ]
    kinds = [(shape, "normal") for shape in shapes] + [
        (problems.DecodeShape(6, 2, 64, 600), kind) for kind in problems.KINDS if not few
    ]
    tally = Tally()
    for shape, kind in kinds:
        problem = problems.make_problem(shape, kind)
        expected = reference.decode_reference(problem.q, problem.k, problem.v)
        for kernel in _decode_kernels(shape.head_dim):
            out = gpu_kernels.decode(problem.q, problem.k, problem.v, kernel)
            tally.add(
                f"{kernel} {kind} {shape}", reference.compare(out, expected), kind == "normal"
            )
    return tally


def _decode_kernels(head_dim: int) -> Iterator[str]:
    yield "flash_attention"
    if head_dim in (64, 128):
        yield f"flash_attention_hd{head_dim}"


def check_tensor_prefill(few: bool) -> Tally:
    """Both head sizes under every mask, rows and keys around the tiles, and hostile values."""
    tally = Tally()
    for head_dim in (256, 512):
        _check_prefill(tally, head_dim, [gpu_kernels.tensor_kernel(head_dim)], few)
    return tally


def check_simdgroup_prefill(few: bool) -> Tally:
    """Head sizes with and without an entry point of their own and a tail, as above."""
    tally = Tally()
    for head_dim in (36, 64) if few else (4, 36, 64, 80, 92, 96, 128, 200, 252, 256):
        _check_prefill(tally, head_dim, gpu_kernels.simdgroup_kernels(head_dim), few)
    return tally


def _check_prefill(
    tally: Tally, head_dim: int, kernels: list[gpu_kernels.PrefillKernel], few: bool
) -> None:
    sizes = ((17, 100),) if few else ((1, 65), (16, 64), (33, 700), (130, 1400))
    masks = ("causal", "blocks") if few else tuple(prefill_problems.MASKS)
    cases = [("normal", size, mask) for size, mask in itertools.product(sizes, masks)]
    cases += [(kind, (33, 200), "causal") for kind in problems.KINDS if not few]
    for kind, (rows, keys), mask in cases:
        shape = prefill_problems.PrefillShape(rows, 4, 2, head_dim, keys)
        problem = prefill_problems.make_prefill_problem(shape, kind, mask)
        arrays = (problem.q, problem.k, problem.v, problem.mask)
        expected = reference.prefill_reference(*arrays)
        for kernel in kernels:
            accuracy = reference.compare(gpu_kernels.prefill(*arrays, kernel), expected)
            has_limits = kind == "normal" and mask != "finite"
            tally.add(f"{kernel.name} {kind} {mask} {shape}", accuracy, has_limits)


def check_classifier(few: bool) -> Tally:
    """Every mask, with tiles of 16 and 32 rows: exact."""
    tally = Tally()
    random = np.random.default_rng(0)
    for (name, make), bq in itertools.product(prefill_problems.MASKS.items(), (16, 32)):
        mask = make(random, 33 if few else 130, 256).astype(np.float16)
        wrong = int((gpu_kernels.classify(mask, bq) != _classes(mask, bq)).sum())
        tally.cases += 1
        if wrong:
            tally.failures.append(f"{name}, {bq} rows: {wrong} tiles of another class")
    return tally


def _classes(mask: np.ndarray, bq: int) -> np.ndarray:
    tiles = np.full((-(-len(mask) // bq), mask.shape[1] // gpu_kernels.BK), 1, np.uint8)
    for row, column in np.ndindex(tiles.shape):
        keys = slice(column * gpu_kernels.BK, (column + 1) * gpu_kernels.BK)
        cells = mask[row * bq : (row + 1) * bq, keys].astype(np.float32)
        tiles[row, column] = 0 if (cells <= -1e30).all() else 2 if (cells == 0).all() else 1
    return tiles


CHECKS: dict[str, Callable[[bool], Tally]] = {
    "flash_attention": check_decode,
    "flash_attn_prefill_blk": check_classifier,
    "flash_attn_prefill_simdgroup": check_simdgroup_prefill,
    "flash_attn_prefill_tensor": check_tensor_prefill,
}


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--few", action="store_true", help="a few small cases, for a sanitizer")
    parser.add_argument("--shaders", type=pathlib.Path, default=gpu_kernels.SHADERS)
    options = parser.parse_args()
    gpu_kernels.use_shaders(options.shaders)
    failures = []
    for name, check in CHECKS.items():
        tally = check(options.few)
        failures += [f"{name}: {failure}" for failure in tally.failures]
        print(
            f"{name:28} {tally.cases:4} cases, worst NMSE {tally.nmse:.1e}, "
            f"worst |Δ|/bound {tally.ratio:.2g}, {len(tally.failures)} failures"
        )
    print("\n".join(failures))
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
