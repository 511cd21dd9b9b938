"""What the ratios of the cases' minima should be at most."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

from flashmetal.bench.timing import Timing

__all__ = ["GOALS", "Goal"]


class Goal(NamedTuple):
    """A ratio of two cases' minima, and what it should be at most."""

    case: str
    peer: str
    most: float

    def __str__(self) -> str:
        return f"{self.case} / {self.peer}"

    def ratio(self, timings: Mapping[str, Timing]) -> float | None:
        """Return what was measured; None where one of the two was not."""
        if self.case not in timings or self.peer not in timings:
            return None
        return timings[self.case].least / timings[self.peer].least


GOALS = (
    Goal("DecodePlan.encode", "empty function", 3),
    Goal("DecodePlan.encode", "ctypes", 1 / 8),
    Goal("DecodeStep.encode, per dispatch", "C twin, per dispatch", 1.15),
    Goal("DecodeStep.encode, per dispatch", "empty function", 1.5),
    Goal("encode_attention", "ctypes", 1 / 4),
    Goal("set seq_len + pack_into, 8 words", "Struct.pack_into, 8 words", 1 / 2),
    Goal("pack_into, 12 words", "Struct.pack_into, 12 words", 1 / 2),
    Goal("Device.wrap and release", "nanobind, array argument", 2.5),
    Goal("np.asarray(buffer)", "np.frombuffer", 1.5),
    Goal("empty command buffer, spin", "PoCL enqueue + finish", 1 / 4),
    Goal("empty command buffer, block", "PoCL enqueue + finish", 2 / 3),
)
