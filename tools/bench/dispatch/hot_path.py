"""The hot path beside its floors and peers, and how the ratios stand to their goals."""

from __future__ import annotations

import pathlib
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple, TextIO

from flashmetal._progress import ProgressBar
from flashmetal.bench import table
from flashmetal.bench.dispatch import packing, plan_encode, python_calls, step_encode
from flashmetal.bench.dispatch.decoding import Decoding
from flashmetal.bench.plot import Bars, Chart
from flashmetal.bench.timing import Timing, measure

__all__ = ["GOALS", "Goal", "HotPath", "run"]


class Goal(NamedTuple):
    """A ratio of two cases' minima, and what it should be at most."""

    case: str
    peer: str
    most: float

    def __str__(self) -> str:
        return f"{self.case} / {self.peer}"


GOALS = (
    Goal("DecodePlan.encode", "empty function", 3),
    Goal("DecodePlan.encode", "ctypes", 1 / 8),
    Goal("DecodeStep.encode, per dispatch", "C twin, per dispatch", 1.15),
    Goal("DecodeStep.encode, per dispatch", "empty function", 1.5),
    Goal("encode_attention", "ctypes", 1 / 4),
    Goal("set seq_len + pack_into, 8 words", "Struct.pack_into, 8 words", 1 / 2),
    Goal("pack_into, 12 words", "Struct.pack_into, 12 words", 1 / 2),
)


@dataclass(frozen=True)
class HotPath:
    """Timings by case."""

    timings: dict[str, Timing]

    def ratio(self, goal: Goal) -> float:
        """Return what was measured for a goal."""
        return self.timings[goal.case].least / self.timings[goal.peer].least

    def as_dict(self) -> dict[str, Any]:
        """Return the figures, ready for JSON; times in seconds."""
        return {
            "timings": {name: timing._asdict() for name, timing in self.timings.items()},
            "goals": [{**goal._asdict(), "ratio": self.ratio(goal)} for goal in GOALS],
        }

    def as_text(self) -> str:
        """Return a table of the timings, and one of the goals."""
        timings = [
            (name, *(table.time_text(seconds) for seconds in timing))
            for name, timing in self.timings.items()
        ]
        goals = [(str(goal), f"{self.ratio(goal):.3f}", f"{goal.most:.3f}") for goal in GOALS]
        return "\n\n".join(
            (
                table.as_text(("case", "min", "median", "spread"), timings),
                table.as_text(("ratio of minima", "measured", "at most"), goals),
            )
        )

    def charts(self) -> Sequence[Chart]:
        """Return the ratios with their goals."""
        return [
            Bars(
                "Ratios of minima; the stroke is the goal, at most",
                "ratio",
                {str(goal): self.ratio(goal) for goal in GOALS},
                {str(goal): goal.most for goal in GOALS},
            )
        ]


def run(rounds: int, progress: TextIO | None) -> HotPath:
    """Measure the cases; `progress` takes a bar when it is a terminal."""
    decoding = Decoding()
    with tempfile.TemporaryDirectory() as folder:
        cases = {
            **python_calls.cases(pathlib.Path(folder)),
            **packing.cases(decoding),
            **plan_encode.cases(decoding),
            **step_encode.cases(decoding),
        }
        bar = ProgressBar(progress, rounds * len(cases))
        try:
            return HotPath(measure(cases, rounds, bar.step))
        finally:
            bar.clear()
