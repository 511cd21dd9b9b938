"""The figures of prefill attention: times, rates, errors, and how they stand to the goals."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from flashmetal.bench.plot import Bars, Chart
from flashmetal.bench.rows import Ratio, Row, lines_text, ratios_text, time_line
from flashmetal.bench.sizes import Sizes
from flashmetal.bench.timing import Timing
from flashmetal.prefill_problems import PrefillShape

__all__ = [
    "ALONE",
    "DENSE",
    "MULTIPLY_ADDS",
    "OURS",
    "SGEMM",
    "Figures",
    "SizeFigures",
    "operations",
]

OURS = "flashmetal"
ALONE = OURS + ", 1 thread"
# Our engine on the same shape, where no tile is skipped.
DENSE = OURS + ", dense mask"
# In front of the library that computes the two matrix products alone.
SGEMM = "sgemm"
MULTIPLY_ADDS = "multiply-adds"

OVER_PEERS = 1.0
OVER_SGEMM = 0.9
CAUSAL_OVER_DENSE = 1.7


def operations(shape: PrefillShape) -> int:
    """Return the floating-point operations of both products over all cells, hidden ones too."""
    return 2 * 2 * shape.rows * shape.n_heads * shape.kv_len * shape.head_dim


@dataclass(frozen=True)
class SizeFigures:
    """Everything about one problem.

    Parameters
    ----------
    shape, mask
        Of the problem.
    rows
        The ways to compute it; the first is ours.
    others
        Times of the matrix products alone and of the limit, by name.
    """

    shape: PrefillShape
    mask: str
    rows: Sequence[Row]
    others: dict[str, Timing]

    @property
    def title(self) -> str:
        """The problem in words."""
        rows, heads, kv_heads, head_dim, keys = self.shape
        return (
            f"{heads} q / {kv_heads} kv heads, head_dim {head_dim}, {rows} rows, {keys} keys, "
            f"{self.mask} mask ({operations(self.shape) * 1e-9:.3g} GFLOP)"
        )

    def rate(self, timing: Timing) -> float:
        """Return GFLOP/s."""
        return operations(self.shape) / timing.least * 1e-9

    def ratios(self) -> list[Ratio]:
        """Return our engine's ratios of minima."""
        ours = self.rows[0].timing.least
        peers = [row for row in self.rows if not row.name.startswith(OURS)]
        own = {row.name: row.timing.least for row in self.rows if row.name.startswith(OURS)}
        products = [timing.least for name, timing in self.others.items() if name.startswith(SGEMM)]
        ratios = []
        # CPUs multiply bf16 at twice the rate of f32, at a thousand times the error.
        for what, dtypes in (("f32 or f16", ("f32", "f16")), ("bf16", ("bf16",))):
            times = [row.timing.least for row in peers if row.dtype in dtypes]
            if times:
                name = f"time of the fastest {what} peer / ours"
                ratios.append(Ratio(name, min(times) / ours, OVER_PEERS))
        if products:
            # A product of what a mask hides is no measure of what leaves it out.
            least = None if self.mask == "causal" else OVER_SGEMM
            ratios.append(Ratio("time of the fastest sgemm / ours", min(products) / ours, least))
        if MULTIPLY_ADDS in self.others:
            limit = self.others[MULTIPLY_ADDS].least
            ratios.append(Ratio("time of the multiply-adds / ours", limit / ours, None))
        if DENSE in own:
            square = self.shape.rows == self.shape.kv_len
            least = CAUSAL_OVER_DENSE if square else None
            ratios.append(Ratio("time of a dense mask / ours", own[DENSE] / ours, least))
        if ALONE in own:
            ratios.append(Ratio("time of one thread / ours", own[ALONE] / ours, None))
        return ratios

    def as_dict(self) -> dict[str, Any]:
        """Return the figures, ready for JSON."""
        return {
            "shape": self.shape._asdict(),
            "operations": operations(self.shape),
            "rows": [row.as_dict("gflop_per_second", self.rate(row.timing)) for row in self.rows],
            "others": {
                name: {**timing._asdict(), "gflop_per_second": self.rate(timing)}
                for name, timing in self.others.items()
            },
            "ratios": [ratio._asdict() for ratio in self.ratios()],
        }

    def as_text(self) -> str:
        """Return a table of the ways, products and limits, and one of the ratios."""
        ours = self.rows[0].timing.least
        lines = [row.line(ours, self.rate(row.timing)) for row in self.rows]
        lines += [
            time_line(name, timing, ours, self.rate(timing)) for name, timing in self.others.items()
        ]
        return "\n\n".join((self.title, lines_text("GFLOP/s", lines), ratios_text(self.ratios())))


@dataclass(frozen=True)
class Figures(Sizes):
    """All problems.

    Parameters
    ----------
    mask
        Of every library.
    """

    sizes: list[SizeFigures]
    mask: str

    def charts(self) -> Sequence[Chart]:
        """Return the rates, a chart for each problem."""
        return [
            Bars(
                size.title,
                f"GFLOP/s, {self.threads} thread(s)",
                {
                    **{f"{row.name} {row.dtype}": size.rate(row.timing) for row in size.rows},
                    **{name: size.rate(timing) for name, timing in size.others.items()},
                },
            )
            for size in self.sizes
        ]
