"""Measures decode problems: our engine, the peers and the machine's limits, interleaved."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TextIO

from flashmetal import _host
from flashmetal.bench import limits
from flashmetal.bench.decode.engine import Engine
from flashmetal.bench.decode.figures import (
    ALONE,
    MULTIPLY_ADDS,
    ONE_THREAD,
    OURS,
    READS,
    Figures,
    SizeFigures,
    cache_bytes,
    operations,
)
from flashmetal.bench.peers import Call, gather
from flashmetal.bench.rows import Row, time_calls
from flashmetal.bench.timing import Case
from flashmetal.problems import DecodeProblem, DecodeShape, make_problem
from flashmetal.reference import compare, decode_reference, default_scale

__all__ = ["run"]

# Of one case's calls, one after the other.
TURN_SECONDS = 0.02


def run(
    shapes: Sequence[DecodeShape],
    threads: int,
    peers: Sequence[str],
    rounds: int,
    progress: TextIO | None,
) -> Figures:
    """Measure each shape; `progress` takes a bar when it is a terminal."""
    figures = Figures(threads, [], {})
    for shape in shapes:
        problem = make_problem(shape)
        calls, left_out = _calls(problem, threads, peers)
        figures.left_out.update(left_out)
        figures.sizes.append(_measure(problem, threads, calls, rounds, progress))
    return figures


def _calls(
    problem: DecodeProblem, threads: int, peers: Sequence[str]
) -> tuple[list[Call], dict[str, str]]:
    ours = [Engine(problem, threads).call(OURS)]
    if threads > 1:
        ours.append(Engine(problem, 1).call(ALONE))
    scale = default_scale(problem.shape.head_dim)
    calls, left_out = gather(peers, "attention_calls", problem, scale, threads)
    return ours + calls, left_out


def _measure(
    problem: DecodeProblem,
    threads: int,
    calls: Sequence[Call],
    rounds: int,
    progress: TextIO | None,
) -> SizeFigures:
    shape = problem.shape
    label = f"head_dim {shape.head_dim}, {shape.seq_len} keys"
    timings, limit_timings = time_calls(
        calls, _limits(shape, threads), rounds, TURN_SECONDS, progress, label
    )
    reference = decode_reference(problem.q, problem.k, problem.v)
    rows = [
        Row(call.name, call.dtype, timing, compare(call.result(), reference).nmse)
        for call, timing in zip(calls, timings, strict=True)
    ]
    return SizeFigures(shape, rows, limit_timings)


def _limits(shape: DecodeShape, threads: int) -> dict[str, Case]:
    """Give them for all threads and for one; none on Apple's Metal, whose work is not the CPU's."""
    counts = {"": threads, ONE_THREAD: 1} if threads > 1 else {"": threads}
    if not _host.available():
        return {}
    return {
        **{READS + name: limits.reads(cache_bytes(shape), n) for name, n in counts.items()},
        **{
            MULTIPLY_ADDS + name: limits.multiply_adds(operations(shape), n)
            for name, n in counts.items()
        },
    }
