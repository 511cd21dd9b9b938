"""What a benchmark hands to the command."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Protocol

from flashmetal.bench.plot import Chart

__all__ = ["Result"]


class Result(Protocol):
    """Figures, in the three forms that the command shows."""

    def as_dict(self) -> dict[str, Any]:
        """Return the figures, ready for JSON; times in seconds."""

    def as_text(self) -> str:
        """Return a table."""

    def charts(self) -> Sequence[Chart]:
        """Return what `--plot` draws, one beneath another."""
