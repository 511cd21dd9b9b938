"""T(N) = α + βN: a command buffer of N dispatches that do nothing, from its encoder to its end.

Commit and completion are inside, so that work that is put off costs all the same.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from time import perf_counter
from typing import NamedTuple

import numpy as np

from flashmetal.bench.queues import Queue
from flashmetal.bench.queues.ours import MODES, Noop
from flashmetal.bench.timing import Case, warm

__all__ = ["Line", "cases", "fit"]

READINGS = 2


class Line(NamedTuple):
    """The line through times of N dispatches.

    Parameters
    ----------
    alpha
        Seconds of a command buffer.
    beta
        Seconds that each dispatch adds.
    error
        The largest relative distance of a time from the line.
    """

    alpha: float
    beta: float
    error: float


def fit(times: Mapping[int, float]) -> Line:
    """Find the line whose squared relative distances from the times are least.

    Parameters
    ----------
    times
        Seconds by number of dispatches; two at least.
    """
    counts, seconds = np.array(list(times)), np.array(list(times.values()))
    beta, alpha = np.polyfit(counts, seconds, 1, w=1 / seconds)
    error = np.abs((alpha + beta * counts) / seconds - 1).max()
    return Line(float(alpha), float(beta), float(error))


def cases(noop: Noop, queues: Sequence[Queue], counts: Sequence[int]) -> dict[str, dict[int, Case]]:
    """Give the cases by queue and number of dispatches, the C twin's in front."""
    given = {
        f"C twin, {mode}": {count: _twin(noop, count, mode) for count in counts} for mode in MODES
    }
    for queue in queues:
        given[queue.name] = {count: _queue(queue, count) for count in counts}
    return given


def _twin(noop: Noop, count: int, mode: str) -> Case:
    return Case(warm(lambda: noop.twin.run(count, 1, 1, mode == "spin") * 1e-9, READINGS))


def _queue(queue: Queue, count: int) -> Case:
    def read() -> float:
        start = perf_counter()
        queue.wait(queue.submit(count))
        return perf_counter() - start

    return Case(warm(read, READINGS))
