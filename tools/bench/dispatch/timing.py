"""Times cases side by side: in one process, interleaved, with an empty loop taken off."""

from __future__ import annotations

import statistics
from collections.abc import Callable
from itertools import repeat
from time import perf_counter_ns
from typing import NamedTuple

__all__ = ["Case", "Timing", "measure"]


class Case(NamedTuple):
    """Something to time.

    Parameters
    ----------
    run
        Does it once and returns nanoseconds of one operation.
    is_timed_in_python
        Whether an empty Python loop is to be taken off.
    """

    run: Callable[[], float]
    is_timed_in_python: bool = True


class Timing(NamedTuple):
    """Nanoseconds of one operation."""

    least: float
    median: float


def empty_loop(count: int = 1000) -> float:
    """Time a loop without a body; nanoseconds of one turn."""
    start = perf_counter_ns()
    for _ in repeat(None, count):
        pass
    return (perf_counter_ns() - start) / count


def measure(cases: dict[str, Case], rounds: int) -> dict[str, Timing]:
    """Run all cases in turn, forth and back, `rounds` times."""
    taken: dict[str, list[float]] = {name: [] for name in cases}
    turns = []
    for index in range(rounds):
        turns.append(empty_loop())
        for name in list(cases) if index % 2 else list(cases)[::-1]:
            taken[name].append(cases[name].run())
    base = min(turns)
    return {
        name: Timing(
            min(values) - base * cases[name].is_timed_in_python,
            statistics.median(values) - base * cases[name].is_timed_in_python,
        )
        for name, values in taken.items()
    }
