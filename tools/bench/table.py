"""Tables of figures as text."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

__all__ = ["as_text", "left_out_text", "time_text"]

_UNITS = ((1.0, "s"), (1e-3, "ms"), (1e-6, "µs"), (1e-9, "ns"))


def as_text(header: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """Return the rows under their header: the first column flush left, the others flush right."""
    widths = [max(map(len, column)) for column in zip(header, *rows, strict=True)]
    return "\n".join(_line(cells, widths) for cells in (header, *rows))


def left_out_text(reasons: Mapping[str, str]) -> str:
    """Return a line for each name that is left out, with the reason."""
    return "\n".join(f"left out: {name}: {reason}" for name, reason in reasons.items())


def time_text(seconds: float) -> str:
    """Return a time in the largest unit that leaves a digit before the point, e.g. "41.5 ns"."""
    for size, unit in _UNITS:
        if abs(seconds) >= size:
            return f"{seconds / size:.3g} {unit}"
    return f"{seconds / _UNITS[-1][0]:.2g} ns"


def _line(cells: Sequence[str], widths: Sequence[int]) -> str:
    first, *others = zip(cells, widths, strict=True)
    return "  ".join(
        [first[0].ljust(first[1]), *(cell.rjust(width) for cell, width in others)]
    ).rstrip()
