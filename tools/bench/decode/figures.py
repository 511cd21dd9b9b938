"""The figures of decode attention: times, rates, errors, and how they stand to the goals."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from flashmetal.bench.plot import Chart, Lines
from flashmetal.bench.rows import Ratio, Row, lines_text, ratios_text, time_line
from flashmetal.bench.sizes import Sizes
from flashmetal.bench.timing import Timing
from flashmetal.problems import DecodeShape

__all__ = [
    "ALONE",
    "MULTIPLY_ADDS",
    "ONE_THREAD",
    "OURS",
    "READS",
    "Figures",
    "SizeFigures",
    "cache_bytes",
    "operations",
]

OURS = "flashmetal"
READS = "reads"
MULTIPLY_ADDS = "multiply-adds"
# Behind the name of our engine, or of a limit.
ONE_THREAD = ", 1 thread"
ALONE = OURS + ONE_THREAD

ELEMENT_BYTES = {"f32": 4, "f16": 2, "bf16": 2}

# From so many keys on it is the engine that counts; below, it is the call.
ENGINE_KEYS = 1024
CALL_OVER_PEERS = 1.0
OVER_F16_PEERS = 3.0
OVER_PEERS = 2.0
NEAR_MULTIPLY_ADDS = 0.80
NEAR_READS = 0.75
OVER_ONE_THREAD = 1.8


def cache_bytes(shape: DecodeShape, dtype: str = "f16") -> int:
    """Return the bytes of K and V."""
    return 2 * shape.seq_len * shape.n_kv_heads * shape.head_dim * ELEMENT_BYTES[dtype]


def operations(shape: DecodeShape) -> int:
    """Return the floating-point operations of q·k and of the weighted sum of v."""
    return 2 * 2 * shape.seq_len * shape.n_heads * shape.head_dim


@dataclass(frozen=True)
class SizeFigures:
    """Everything about one problem.

    Parameters
    ----------
    shape
        Of the problem.
    rows
        The ways to compute it; the first is ours.
    limits
        Times of what cannot be done faster, by name; empty where they are not known.
    """

    shape: DecodeShape
    rows: Sequence[Row]
    limits: dict[str, Timing]

    @property
    def title(self) -> str:
        """The problem in words."""
        heads, kv_heads, head_dim, keys = self.shape
        size = cache_bytes(self.shape) / 2**20
        return f"{heads} q / {kv_heads} kv heads, head_dim {head_dim}, {keys} keys ({size:.3g} MiB)"

    def rate(self, row: Row) -> float:
        """Return the GB/s at which a row reads K and V as it stores them."""
        return cache_bytes(self.shape, row.dtype) / row.timing.least * 1e-9

    def limit(self, threads: str = "") -> float:
        """Return the seconds that no decode can beat; `threads`: "" or ONE_THREAD."""
        return max(self.limits[kind + threads].least for kind in (READS, MULTIPLY_ADDS))

    def ratios(self) -> list[Ratio]:
        """Return our engine's ratios of minima."""
        ours = self.rows[0].timing.least
        peers = [row for row in self.rows if not row.name.startswith(OURS)]
        ratios = []
        is_call = self.shape.seq_len < ENGINE_KEYS
        for what, dtypes, least in (
            ("fastest f16 peer", {"f16"}, None if is_call else OVER_F16_PEERS),
            ("fastest peer", set(ELEMENT_BYTES), CALL_OVER_PEERS if is_call else OVER_PEERS),
        ):
            times = [row.timing.least for row in peers if row.dtype in dtypes]
            if times:
                ratios.append(Ratio(f"time of the {what} / ours", min(times) / ours, least))
        if is_call:
            return ratios
        if self.limits:
            bound, least = self._bound()
            ratios.append(Ratio(f"nearness to the limit ({bound})", self.limit() / ours, least))
        ratios.extend(self._over_one_thread(ours))
        return ratios

    def _bound(self) -> tuple[str, float]:
        if self.limits[READS].least > self.limits[MULTIPLY_ADDS].least:
            return READS, NEAR_READS
        return MULTIPLY_ADDS, NEAR_MULTIPLY_ADDS

    def _over_one_thread(self, ours: float) -> list[Ratio]:
        alone = [row.timing.least for row in self.rows if row.name == ALONE]
        if not alone:
            return []
        ratios = [Ratio("time of one thread / ours", alone[0] / ours, OVER_ONE_THREAD)]
        if self.limits:
            possible = self.limit(ONE_THREAD) / self.limit()
            # No goal where the machine itself does not get that much faster.
            if possible < OVER_ONE_THREAD:
                ratios[0] = ratios[0]._replace(least=None)
            ratios.append(Ratio("the same of the limits", possible, None))
        return ratios

    def as_dict(self) -> dict[str, Any]:
        """Return the figures, ready for JSON."""
        return {
            "shape": self.shape._asdict(),
            "cache_bytes": cache_bytes(self.shape),
            "rows": [row.as_dict("gb_per_second", self.rate(row)) for row in self.rows],
            "limits": {name: timing._asdict() for name, timing in self.limits.items()},
            "ratios": [ratio._asdict() for ratio in self.ratios()],
        }

    def as_text(self) -> str:
        """Return a table of the rows and limits, and one of the ratios."""
        ours = self.rows[0].timing.least
        lines = [row.line(ours, self.rate(row)) for row in self.rows]
        size = cache_bytes(self.shape)
        lines += [
            time_line(f"limit: {name}", timing, ours, size / timing.least * 1e-9)
            for name, timing in self.limits.items()
        ]
        return "\n\n".join((self.title, lines_text("GB/s", lines), ratios_text(self.ratios())))


@dataclass(frozen=True)
class Figures(Sizes):
    """All problems."""

    sizes: list[SizeFigures]

    def charts(self) -> Sequence[Chart]:
        """Return the rates over the number of keys, a chart for each head_dim."""
        widths = dict.fromkeys(size.shape.head_dim for size in self.sizes)
        return [self._chart(head_dim) for head_dim in widths]

    def _chart(self, head_dim: int) -> Lines:
        curves: dict[str, list[tuple[float, float]]] = {}
        for size in self.sizes:
            if size.shape.head_dim != head_dim:
                continue
            for row in size.rows:
                name = f"{row.name} {row.dtype}"
                curves.setdefault(name, []).append((size.shape.seq_len, size.rate(row)))
            if size.limits:
                rate = cache_bytes(size.shape) / size.limit() * 1e-9
                curves.setdefault("limit f16", []).append((size.shape.seq_len, rate))
        return Lines(
            f"Decode, head_dim {head_dim}, {self.threads} thread(s)",
            "keys",
            "GB/s of K and V as stored",
            curves,
            x_base=2,
        )
