"""Times cases side by side: in one process, interleaved, warm, without what the loop costs."""

from __future__ import annotations

import statistics
from collections.abc import Callable, Mapping, Sequence
from itertools import repeat
from time import perf_counter
from typing import NamedTuple

__all__ = ["Case", "Timing", "each_call", "measure", "warm"]

# A call after another case's finds that one's data in the caches: it is left out.
_FIRST_CALLS = 1
# Of the empty loop in each round: one that the system interrupts would count for all cases.
_LOOP_READINGS = 5


class Case(NamedTuple):
    """Something to time.

    Parameters
    ----------
    take_turn
        Does it some times and returns the seconds of one operation, for each time it read the
        clock.
    loops_in_python
        Whether a reading holds a turn of a Python loop for each operation, to be taken off.
    """

    take_turn: Callable[[], Sequence[float]]
    loops_in_python: bool = False


class Timing(NamedTuple):
    """Seconds of one operation.

    Parameters
    ----------
    least
        Of all readings.
    median
        Of the turns' medians.
    spread
        Between the quartiles of the turns' medians.
    """

    least: float
    median: float
    spread: float


def each_call(call: Callable[[], object], seconds: float) -> Callable[[], list[float]]:
    """Return a turn that times each call by itself, for calls of a microsecond and more.

    Parameters
    ----------
    call
        What to time.
    seconds
        How long a turn lasts; there are two calls at least, of which the first is left out.
    """

    def take_turn() -> list[float]:
        taken: list[float] = []
        end = perf_counter() + seconds
        while len(taken) <= _FIRST_CALLS or perf_counter() < end:
            start = perf_counter()
            call()
            taken.append(perf_counter() - start)
        return taken[_FIRST_CALLS:]

    return take_turn


def warm(read: Callable[[], float], readings: int = 5) -> Callable[[], list[float]]:
    """Return a turn of several readings, for what times itself and is short.

    Parameters
    ----------
    read
        Times it; the seconds of one operation.
    readings
        How many a turn has, after one that is left out.
    """

    def take_turn() -> list[float]:
        return [read() for _ in range(_FIRST_CALLS + readings)][_FIRST_CALLS:]

    return take_turn


def measure(
    cases: Mapping[str, Case], rounds: int, tick: Callable[[str], None] = lambda name: None
) -> dict[str, Timing]:
    """Give each case its turn, forth and back.

    Parameters
    ----------
    cases
        By name.
    rounds
        How often each has its turn.
    tick
        Called with the name after each turn.

    Returns
    -------
    dict
        The timings by name.
    """
    turns: dict[str, list[Sequence[float]]] = {name: [] for name in cases}
    loops: list[float] = []
    for index in range(rounds):
        loops += [_time_empty_loop() for _ in range(_LOOP_READINGS)]
        for name in list(cases)[:: -1 if index % 2 else 1]:
            turns[name].append(cases[name].take_turn())
            tick(name)
    loop = min(loops, default=0.0)
    return {
        name: _summarise(turns[name], loop if cases[name].loops_in_python else 0.0)
        for name in cases
    }


def _time_empty_loop(count: int = 1000) -> float:
    start = perf_counter()
    for _ in repeat(None, count):
        pass
    return (perf_counter() - start) / count


def _summarise(turns: Sequence[Sequence[float]], loop: float) -> Timing:
    medians = sorted(map(statistics.median, turns))
    lower, _, upper = statistics.quantiles(medians, n=4) if len(medians) > 1 else [0.0] * 3
    return Timing(
        min(map(min, turns)) - loop,
        statistics.median(medians) - loop,
        upper - lower,
    )
