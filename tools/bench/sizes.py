"""The figures of a benchmark that times problems of several sizes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, fields
from typing import Any, Protocol

from flashmetal.bench import table

__all__ = ["Size", "Sizes"]


class Size(Protocol):
    """The figures of one problem."""

    def as_dict(self) -> dict[str, Any]:
        """Return the figures, ready for JSON."""

    def as_text(self) -> str:
        """Return the figures as tables."""


@dataclass(frozen=True)
class Sizes:
    """All problems; the benchmarks add what they know besides.

    Parameters
    ----------
    threads
        Of every library.
    sizes
        A problem each.
    left_out
        Why peers are missing, by name.
    """

    threads: int
    sizes: Sequence[Size]
    left_out: dict[str, str]

    def as_dict(self) -> dict[str, Any]:
        """Return the figures, ready for JSON; times in seconds."""
        whole = {field.name: getattr(self, field.name) for field in fields(self)}
        return {**whole, "sizes": [size.as_dict() for size in self.sizes]}

    def as_text(self) -> str:
        """Return the tables of every problem, and who is left out."""
        texts = [size.as_text() for size in self.sizes]
        if self.left_out:
            texts.append(table.left_out_text(self.left_out))
        return "\n\n".join((f"threads: {self.threads}", *texts))
