"""What the dispatch benchmark measured, as JSON, tables and charts."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from flashmetal.bench import table
from flashmetal.bench.dispatch.goals import GOALS
from flashmetal.bench.dispatch.line import Line, fit
from flashmetal.bench.plot import Bars, Chart, Lines
from flashmetal.bench.timing import Timing

__all__ = ["Figures"]


@dataclass(frozen=True)
class Figures:
    """All timings.

    Parameters
    ----------
    timings
        By case.
    stages
        Names of cases by stage and what takes it.
    counts
        Of command buffers by queue and number of dispatches.
    depths
        Of one command buffer of several in flight, by queue and depth.
    left_out
        Why peers are missing, by name.
    """

    timings: Mapping[str, Timing]
    stages: Mapping[str, Mapping[str, str]]
    counts: Mapping[str, Mapping[int, Timing]]
    depths: Mapping[str, Mapping[int, Timing]]
    left_out: Mapping[str, str]

    def lines(self) -> dict[str, Line]:
        """Return the line through the minima, by queue."""
        return {
            name: fit({count: timing.least for count, timing in timings.items()})
            for name, timings in self.counts.items()
        }

    def as_dict(self) -> dict[str, Any]:
        """Return the figures, ready for JSON; times in seconds."""
        lines = self.lines()
        return {
            "timings": {name: timing._asdict() for name, timing in self.timings.items()},
            "stages": {
                stage: {
                    taker: self.timings[name]._asdict()
                    for taker, name in names.items()
                    if name in self.timings
                }
                for stage, names in self.stages.items()
            },
            "lines": {
                name: {**lines[name]._asdict(), "dispatches": _as_dicts(timings)}
                for name, timings in self.counts.items()
            },
            "depths": {name: _as_dicts(timings) for name, timings in self.depths.items()},
            "goals": [{**goal._asdict(), "ratio": goal.ratio(self.timings)} for goal in GOALS],
            "left_out": dict(self.left_out),
        }

    def as_text(self) -> str:
        """Return a table of each kind."""
        parts = [
            table.as_text(
                ("case", "min", "median", "spread"),
                [(name, *_cells(timing)) for name, timing in self._other_timings().items()],
            ),
            table.as_text(("stage", "by", "min", "median", "spread"), self._stage_rows()),
            table.as_text(
                ("T(N) = α + βN, by", "α", "β", "worst fit"),
                [
                    (name, table.time_text(a), table.time_text(b), f"{error:.0%}")
                    for name, (a, b, error) in self.lines().items()
                ],
            ),
            table.as_text(
                ("per command buffer, in flight", *self._depth_names()),
                [
                    (name, *(table.time_text(timing.least) for timing in timings.values()))
                    for name, timings in self.depths.items()
                ],
            ),
            table.as_text(("ratio of minima", "measured", "at most"), self._goal_rows()),
        ]
        if self.left_out:
            parts.append(table.left_out_text(self.left_out))
        return "\n\n".join(parts)

    def charts(self) -> Sequence[Chart]:
        """Return the lines, the depths, and the ratios with their goals."""
        ratios = {str(goal): goal.ratio(self.timings) for goal in GOALS}
        measured = {name: ratio for name, ratio in ratios.items() if ratio is not None}
        return [
            Lines(
                "A command buffer of N dispatches that do nothing, from its encoder to its end",
                "dispatches",
                "µs, least",
                {name: _points(timings) for name, timings in self.counts.items()},
            ),
            Lines(
                "A command buffer of one dispatch, several in flight",
                "in flight",
                "µs per command buffer, least",
                {name: _points(timings) for name, timings in self.depths.items()},
                x_base=2,
            ),
            Bars(
                "Ratios of minima; the stroke is the goal, at most",
                "ratio",
                measured,
                {str(goal): goal.most for goal in GOALS if str(goal) in measured},
            ),
        ]

    def _other_timings(self) -> dict[str, Timing]:
        staged = {name for names in self.stages.values() for name in names.values()}
        return {name: timing for name, timing in self.timings.items() if name not in staged}

    def _stage_rows(self) -> list[tuple[str, ...]]:
        return [
            (stage, taker, *_cells(self.timings[name]))
            for stage, names in self.stages.items()
            for taker, name in names.items()
            if name in self.timings
        ]

    def _depth_names(self) -> tuple[str, ...]:
        depths = next(iter(self.depths.values()))
        return tuple(map(str, depths))

    def _goal_rows(self) -> list[tuple[str, ...]]:
        rows = []
        for goal in GOALS:
            ratio = goal.ratio(self.timings)
            rows.append((str(goal), "–" if ratio is None else f"{ratio:.3f}", f"{goal.most:.3f}"))
        return rows


def _cells(timing: Timing) -> list[str]:
    return [table.time_text(seconds) for seconds in timing]


def _as_dicts(timings: Mapping[int, Timing]) -> dict[str, Any]:
    return {str(number): timing._asdict() for number, timing in timings.items()}


def _points(timings: Mapping[int, Timing]) -> list[tuple[float, float]]:
    return [(number, timing.least * 1e6) for number, timing in timings.items()]
