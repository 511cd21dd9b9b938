"""Ways to compute a problem, timed side by side, and how they stand to the goals."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple, TextIO

from flashmetal._progress import ProgressBar
from flashmetal.bench import table
from flashmetal.bench.peers import Call
from flashmetal.bench.timing import Case, Timing, each_call, measure

__all__ = ["Ratio", "Row", "lines_text", "ratios_text", "time_calls", "time_line"]


class Row(NamedTuple):
    """One way to compute a problem.

    Parameters
    ----------
    name, dtype
        Of the library, and of K and V.
    timing
        Of a call.
    nmse
        Error against float64.
    """

    name: str
    dtype: str
    timing: Timing
    nmse: float

    def as_dict(self, unit: str, rate: float) -> dict[str, Any]:
        """Return the row, ready for JSON; `unit` names the rate."""
        return {
            "name": self.name,
            "dtype": self.dtype,
            **self.timing._asdict(),
            unit: rate,
            "nmse": self.nmse,
        }

    def line(self, ours: float, rate: float) -> tuple[str, ...]:
        """Return the row as a line of `lines_text`; `ours`: the seconds of our own."""
        name = f"{self.name} {self.dtype}"
        return time_line(name, self.timing, ours, rate, f"{self.nmse:.1e}")


class Ratio(NamedTuple):
    """Something measured, and what it should be at least; None: there is no goal."""

    name: str
    value: float
    least: float | None


def time_calls(
    calls: Sequence[Call],
    others: Mapping[str, Case],
    rounds: int,
    seconds: float,
    progress: TextIO | None,
    label: str,
) -> tuple[list[Timing], dict[str, Timing]]:
    """Time calls and what they are compared with, interleaved.

    Parameters
    ----------
    calls
        Each has run before.
    others
        By name.
    rounds, seconds
        How many turns each has, and how long one of a call lasts.
    progress, label
        Where to draw a bar when it is a terminal, and what is beside it.

    Returns
    -------
    tuple
        The calls' timings in their order, and the others' by name.
    """
    cases = {str(index): Case(each_call(call.run, seconds)) for index, call in enumerate(calls)}
    bar = ProgressBar(progress, rounds * (len(cases) + len(others)))
    try:
        timings = measure({**cases, **others}, rounds, lambda _: bar.step(label))
    finally:
        bar.clear()
    return [timings[name] for name in cases], {name: timings[name] for name in others}


def time_line(
    name: str, timing: Timing, ours: float, rate: float, nmse: str = ""
) -> tuple[str, ...]:
    """Return a line of `lines_text`."""
    return (
        name,
        table.time_text(timing.least),
        table.time_text(timing.median),
        f"{timing.least / ours:.2f}",
        f"{rate:.1f}",
        nmse,
    )


def lines_text(unit: str, lines: Sequence[tuple[str, ...]]) -> str:
    """Return a table of times; `unit` names the rates."""
    return table.as_text(("", "min", "median", "÷ ours", unit, "NMSE"), lines)


def ratios_text(ratios: Sequence[Ratio]) -> str:
    """Return a table of ratios beside their goals."""
    rows = [
        (name, f"{value:.2f}", "" if least is None else f"{least:.2f}")
        for name, value, least in ratios
    ]
    return table.as_text(("ratio of minima", "measured", "at least"), rows)
