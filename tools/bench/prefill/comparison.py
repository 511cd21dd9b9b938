"""Measures prefill problems: our engine, the peers, matrix products and limits, interleaved."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TextIO

import numpy as np

from flashmetal import _host
from flashmetal.bench import limits
from flashmetal.bench.peers import PRODUCTS, Call, gather
from flashmetal.bench.peers.layout import product_operands
from flashmetal.bench.prefill.engine import Engine
from flashmetal.bench.prefill.figures import (
    ALONE,
    DENSE,
    MULTIPLY_ADDS,
    OURS,
    SGEMM,
    Figures,
    SizeFigures,
    operations,
)
from flashmetal.bench.prefill.masks import make_masked_problem
from flashmetal.bench.rows import Row, time_calls
from flashmetal.bench.timing import Case, each_call
from flashmetal.prefill_problems import PrefillProblem, PrefillShape
from flashmetal.reference import Reference, compare, default_scale, prefill_reference

__all__ = ["run"]

# Of one case's calls, one after the other.
TURN_SECONDS = 0.02
# Errors are measured on this many rows, evenly spread: float64 takes longer than all the calls.
ERROR_ROWS = 32


def run(
    shapes: Sequence[PrefillShape],
    mask: str,
    threads: int,
    peers: Sequence[str],
    rounds: int,
    progress: TextIO | None,
) -> Figures:
    """Measure each shape; `progress` takes a bar when it is a terminal."""
    figures = Figures(threads, [], {}, mask)
    for shape in shapes:
        problem = make_masked_problem(shape, mask)
        calls, left_out = _calls(problem, mask, threads, peers)
        figures.left_out.update(left_out)
        others = _others(shape, threads, peers)
        figures.sizes.append(_measure(problem, mask, calls, others, rounds, progress))
    return figures


def _calls(
    problem: PrefillProblem, mask: str, threads: int, peers: Sequence[str]
) -> tuple[list[Call], dict[str, str]]:
    ours = [Engine(problem, threads).call(OURS)]
    if threads > 1:
        ours.append(Engine(problem, 1).call(ALONE))
    if mask == "causal":
        ours.append(Engine(make_masked_problem(problem.shape, "dense"), threads).call(DENSE))
    scale = default_scale(problem.shape.head_dim)
    calls, left_out = gather(peers, "attention_calls", problem, scale, threads)
    return ours + calls, left_out


def _others(shape: PrefillShape, threads: int, peers: Sequence[str]) -> dict[str, Case]:
    names = [name for name in PRODUCTS if name in peers]
    products, _ = gather(names, "product_calls", product_operands(shape), threads)
    cases = {
        f"{SGEMM} {product.name}": Case(each_call(product.run, TURN_SECONDS))
        for product in products
    }
    if _host.available():
        cases[MULTIPLY_ADDS] = limits.multiply_adds(operations(shape), threads)
    return cases


def _measure(
    problem: PrefillProblem,
    mask: str,
    calls: Sequence[Call],
    others: dict[str, Case],
    rounds: int,
    progress: TextIO | None,
) -> SizeFigures:
    shape = problem.shape
    label = f"head_dim {shape.head_dim}, {shape.rows} rows, {shape.kv_len} keys"
    timings, other_timings = time_calls(calls, others, rounds, TURN_SECONDS, progress, label)
    chosen, reference = _reference(problem)
    _, of_dense = _reference(make_masked_problem(shape, "dense")) if mask == "causal" else (0, None)
    rows = [
        Row(
            call.name,
            call.dtype,
            timing,
            compare(call.result()[chosen], of_dense if call.name == DENSE else reference).nmse,
        )
        for call, timing in zip(calls, timings, strict=True)
    ]
    return SizeFigures(shape, mask, rows, other_timings)


def _reference(problem: PrefillProblem) -> tuple[np.ndarray, Reference]:
    """Return some of the rows, and what they should be."""
    rows = problem.shape.rows
    chosen = np.unique(np.linspace(0, rows - 1, min(rows, ERROR_ROWS), dtype=int))
    return chosen, prefill_reference(problem.q[chosen], problem.k, problem.v, problem.mask[chosen])
