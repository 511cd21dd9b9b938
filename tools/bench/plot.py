"""Charts of figures in a file: SVG, or an HTML page that holds the SVG and needs no network."""

from __future__ import annotations

import html
import io
import pathlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from flashmetal.errors import InvalidArgument, IoError, UnsupportedFeature

__all__ = ["Bars", "Chart", "Lines", "check", "write"]

_SUFFIXES = (".svg", ".html")
_INCHES_WIDE = 9.0
_INCHES_HIGH = 4.5
_PAGE = """<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<title>{title}</title>
<style>body {{ font-family: sans-serif; margin: 2em auto; max-width: 60em }} \
svg {{ width: 100%; height: auto }}</style>
</head>
<body>
<h1>{title}</h1>
{svg}
</body>
</html>
"""


@dataclass(frozen=True)
class Lines:
    """Curves over a common axis.

    Parameters
    ----------
    title, x_label, y_label
        With units.
    curves
        Points (x, y) by name.
    x_base
        Of a logarithmic x axis; None: a linear one.
    """

    title: str
    x_label: str
    y_label: str
    curves: Mapping[str, Sequence[tuple[float, float]]]
    x_base: int | None = None

    def draw(self, axes: Any) -> None:
        """Draw onto axes of matplotlib."""
        for name, points in self.curves.items():
            axes.plot(*zip(*points, strict=True), marker="o", markersize=3, label=name)
        if self.x_base is not None:
            axes.set_xscale("log", base=self.x_base)
        axes.set(title=self.title, xlabel=self.x_label, ylabel=self.y_label)
        axes.set_ylim(bottom=0)
        axes.legend()
        axes.grid(alpha=0.3)


@dataclass(frozen=True)
class Bars:
    """A bar for each name.

    Parameters
    ----------
    title, label
        With units.
    lengths
        By name.
    marks
        Goals by name, each a stroke across its bar.
    """

    title: str
    label: str
    lengths: Mapping[str, float]
    marks: Mapping[str, float] = field(default_factory=dict)

    def draw(self, axes: Any) -> None:
        """Draw onto axes of matplotlib."""
        names = list(self.lengths)
        axes.barh(names, list(self.lengths.values()))
        for name, length in self.marks.items():
            row = names.index(name)
            axes.plot([length, length], [row - 0.4, row + 0.4], color="black")
        axes.invert_yaxis()
        axes.set(title=self.title, xlabel=self.label)
        axes.grid(axis="x", alpha=0.3)


Chart = Lines | Bars


def check(path: pathlib.Path) -> None:
    """Raise what `write` would raise, before anything is measured.

    Raises
    ------
    InvalidArgument
        The name ends in something else than .svg and .html.
    IoError
        The folder is missing.
    UnsupportedFeature
        matplotlib is missing.
    """
    if path.suffix not in _SUFFIXES:
        raise InvalidArgument(f"--plot: {path} must end in {' or '.join(_SUFFIXES)}")
    if not path.parent.is_dir():
        raise IoError(f"--plot: no folder {path.parent} for {path.name}: make it first")
    _figure()


def write(path: pathlib.Path, title: str, charts: Sequence[Chart]) -> None:
    """Write the charts, one beneath another.

    Raises
    ------
    IoError
        The file could not be written.
    """
    svg = _as_svg(charts)
    text = svg if path.suffix == ".svg" else _as_page(title, svg)
    try:
        path.write_text(text, encoding="utf-8")
    except OSError as error:
        raise IoError(f"--plot: cannot write {path}: {error.strerror}") from error


def _figure() -> Any:
    try:
        from matplotlib.figure import Figure
    except ImportError as error:
        raise UnsupportedFeature(
            "--plot draws with matplotlib, which is not installed: pip install 'flashmetal[plot]'"
        ) from error
    return Figure


def _as_svg(charts: Sequence[Chart]) -> str:
    from matplotlib import rc_context

    figure = _figure()(figsize=(_INCHES_WIDE, _INCHES_HIGH * len(charts)), layout="constrained")
    for axes, chart in zip(figure.subplots(len(charts), squeeze=False)[:, 0], charts, strict=True):
        chart.draw(axes)
    stream = io.StringIO()
    # The same figures give the same file: no date, and names that are not drawn by lot.
    with rc_context({"svg.hashsalt": "flashmetal"}):
        figure.savefig(stream, format="svg", metadata={"Date": None})
    return stream.getvalue()


def _as_page(title: str, svg: str) -> str:
    # The XML declaration and document type in front of the element are no part of HTML.
    return _PAGE.format(title=html.escape(title), svg=svg[svg.index("<svg") :])
