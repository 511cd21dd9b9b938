"""Runs all scenarios side by side."""

from __future__ import annotations

import pathlib
import tempfile
from collections.abc import Mapping, Sequence
from typing import TextIO

from flashmetal._progress import ProgressBar
from flashmetal.bench.dispatch import (
    bindings,
    depth,
    line,
    loop,
    packing,
    plan_encode,
    round_trip,
    stages,
    step_encode,
    wrapping,
)
from flashmetal.bench.dispatch.decoding import Decoding
from flashmetal.bench.dispatch.figures import Figures
from flashmetal.bench.queues import PEERS, open_peers
from flashmetal.bench.queues.ours import Noop, open_queues
from flashmetal.bench.timing import Case, Timing, measure

__all__ = ["run"]


def run(
    rounds: int,
    peers: Sequence[str],
    counts: Sequence[int],
    depths: Sequence[int],
    progress: TextIO | None,
) -> Figures:
    """Measure the cases.

    Parameters
    ----------
    rounds
        How often each case has its turn.
    peers
        Some of `bindings.BINDINGS` and of `queues.PEERS`.
    counts
        Dispatches of the command buffers that the lines go through.
    depths
        Command buffers in flight.
    progress
        Takes a bar when it is a terminal.
    """
    decoding, noop = Decoding(), Noop()
    queues, left_out = open_peers([name for name in PEERS if name in peers])
    everyone = [*open_queues(noop), *queues]
    with tempfile.TemporaryDirectory() as folder:
        calls, also_left_out = bindings.cases(
            [name for name in bindings.BINDINGS if name in peers], pathlib.Path(folder)
        )
        staged, names = stages.cases(decoding, noop, queues)
        cases = {
            **calls,
            **packing.cases(decoding),
            **plan_encode.cases(decoding),
            **step_encode.cases(decoding),
            **wrapping.cases(decoding),
            **loop.cases(decoding),
            **round_trip.cases(noop, queues),
            **staged,
        }
        by_count = line.cases(noop, everyone, counts)
        by_depth = depth.cases(noop, everyone, depths)
        timings = _measure(
            {**cases, **_flat("dispatches", by_count), **_flat("in flight", by_depth)},
            rounds,
            progress,
        )
    return Figures(
        {name: timings[name] for name in cases},
        names,
        _nested("dispatches", by_count, timings),
        _nested("in flight", by_depth, timings),
        {**also_left_out, **left_out},
    )


def _measure(cases: Mapping[str, Case], rounds: int, progress: TextIO | None) -> dict[str, Timing]:
    bar = ProgressBar(progress, rounds * len(cases))
    try:
        return measure(cases, rounds, bar.step)
    finally:
        bar.clear()


def _name(what: str, queue: str, number: int) -> str:
    return f"{queue}: {number} {what}"


def _flat(what: str, cases: Mapping[str, Mapping[int, Case]]) -> dict[str, Case]:
    return {
        _name(what, queue, number): case
        for queue, numbered in cases.items()
        for number, case in numbered.items()
    }


def _nested(
    what: str, cases: Mapping[str, Mapping[int, Case]], timings: Mapping[str, Timing]
) -> dict[str, dict[int, Timing]]:
    return {
        queue: {number: timings[_name(what, queue, number)] for number in numbered}
        for queue, numbered in cases.items()
    }
