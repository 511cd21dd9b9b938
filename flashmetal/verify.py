"""Accuracy of the kernels against float64, over a grid of shapes and hostile inputs."""

from __future__ import annotations

import itertools
import math
import shutil
import time
from collections.abc import Sequence
from dataclasses import asdict, dataclass, field
from typing import Any, NamedTuple, TextIO

import numpy as np

from ._device import Device
from ._registry import KernelRegistry
from .errors import UnsupportedFeature
from .ops.flash_attention import FlashAttentionParams, encode_attention, register
from .problems import KINDS, DecodeProblem, DecodeShape, make_problem
from .reference import DECODE_LIMITS, Accuracy, compare, decode_reference

__all__ = ["Case", "EngineReport", "as_text", "decode_cases", "engines_of", "verify"]

# Rows after the cache's last one, NaN: a kernel that reads one shows it.
_POISONED_ROWS = 2


class Case(NamedTuple):
    """One decode call of the grid."""

    shape: DecodeShape
    kind: str

    def __str__(self) -> str:
        sizes = ", ".join(f"{name} {size}" for name, size in self.shape._asdict().items())
        return f"{self.kind}: {sizes}"


@dataclass
class EngineReport:
    """What one engine made of the grid.

    Parameters
    ----------
    engine
        Its name, "metal" for Apple's.
    device
        The device's name.
    cases
        How many ran.
    nmse, row_nmse
        Worst of any case with unit-normal inputs: over all elements, and of one head.
    ratio
        Worst |Δ| / bound of any element of any case.
    failures
        The cases that broke a limit, with what they measured.
    seconds
        Time of it all, references included.
    """

    engine: str
    device: str
    cases: int = 0
    nmse: float = 0.0
    row_nmse: float = 0.0
    ratio: float = 0.0
    failures: list[str] = field(default_factory=list)
    seconds: float = 0.0

    def add(self, case: Case, accuracy: Accuracy) -> None:
        """Count a case's accuracy in."""
        unit_normal = case.kind == "normal"
        self.cases += 1
        self.ratio = max(self.ratio, accuracy.ratio)
        if unit_normal:
            self.nmse = max(self.nmse, accuracy.nmse)
            self.row_nmse = max(self.row_nmse, accuracy.row_nmse)
        if not accuracy.within_bound or (unit_normal and not accuracy.within_nmse_limits):
            self.failures.append(
                f"{case}: NMSE {accuracy.nmse:.2g}, worst row {accuracy.row_nmse:.2g}, "
                f"|Δ|/bound {accuracy.ratio:.2g}"
            )

    def as_dict(self) -> dict[str, Any]:
        """Return the fields, ready for JSON, which has no infinity: None in its place."""
        return {name: None if value == math.inf else value for name, value in asdict(self).items()}


def decode_cases(quick: bool = False) -> list[Case]:
    """Return the grid: head_dims, group sizes, lengths around the kernel's tiles, hostile values.

    `quick` gives a coarser one, a few seconds long.
    """
    if quick:
        head_dims: Sequence[int] = (4, 36, 64, 80, 96, 128)
        heads: Sequence[tuple[int, int]] = ((1, 1), (6, 2), (14, 2))
        lengths: Sequence[int] = (0, 1, 33, 256, 257, 1000)
        hostile_lengths: Sequence[int] = (257,)
    else:
        head_dims = range(4, 129, 4)
        heads = ((1, 1), (4, 4), (6, 2), (14, 2), (8, 1))
        lengths = (0, 1, 2, 31, 33, 255, 256, 257, 511, 513, 1000, 4097)
        hostile_lengths = (2, 257, 1000)
    ordinary = (
        Case(DecodeShape(*pair, head_dim, length), "normal")
        for head_dim, pair, length in itertools.product(head_dims, heads, lengths)
    )
    hostile = (
        Case(DecodeShape(6, 2, head_dim, length), kind)
        for head_dim, length, kind in itertools.product(head_dims, hostile_lengths, KINDS)
        if kind != "normal"
    )
    return [*ordinary, *hostile]


def engines_of(engine: str | None = None, threads: int | None = None) -> dict[str, Device]:
    """Return a device for each engine there is: host Metal's by name, or "metal" for Apple's.

    Parameters
    ----------
    engine
        Only this one; it is an error when there is no such engine.
    threads
        CPU threads of host Metal, as `Device` takes them.
    """
    if engine is not None:
        return {engine: Device(engine=engine, threads=threads)}
    if not Device().is_host:
        return {"metal": Device(threads=threads)}
    found = {}
    for name in ("simt", "native"):
        try:
            found[name] = Device(engine=name, threads=threads)
        except UnsupportedFeature:
            continue
    return found


def _run(registry: KernelRegistry, problem: DecodeProblem) -> np.ndarray:
    n_heads, n_kv_heads, head_dim, seq_len = problem.shape
    device = registry.device
    kv_shape = (seq_len + _POISONED_ROWS, n_kv_heads, head_dim)
    q = device.alloc(problem.q.shape, "f32")
    k, v = device.alloc(kv_shape, "f16"), device.alloc(kv_shape, "f16")
    out = device.alloc(problem.q.shape, "f32")

    np.asarray(q)[...] = problem.q
    np.asarray(out)[...] = np.nan
    for buffer, rows in ((k, problem.k), (v, problem.v)):
        cache = np.asarray(buffer)
        cache[:seq_len] = rows
        cache[seq_len:] = np.nan

    params = FlashAttentionParams(
        n_heads=n_heads, n_kv_heads=n_kv_heads, head_dim=head_dim, seq_len=seq_len
    )
    encoder = device.encoder()
    encode_attention(encoder, registry, q, k, v, out, params)
    encoder.commit_and_wait()
    return np.array(out)


def verify(
    engines: dict[str, Device], cases: Sequence[Case], progress: TextIO | None = None
) -> list[EngineReport]:
    """Compare each engine's decode attention with float64.

    Parameters
    ----------
    engines
        Devices by the name of their engine, as `engines_of` returns them.
    cases
        What to run, e.g. `decode_cases`.
    progress
        Where to draw a progress bar; none is drawn unless it is a terminal.

    Returns
    -------
    list of EngineReport
        One for each engine; its `failures` are empty when all is well.
    """
    bar = _ProgressBar(progress, len(cases) * len(engines))
    reports = []
    for engine, device in engines.items():
        report = EngineReport(engine, device.name)
        registry = KernelRegistry(device)
        register(registry)
        started = time.perf_counter()
        for case in cases:
            problem = make_problem(*case)
            reference = decode_reference(problem.q, problem.k, problem.v)
            report.add(case, compare(_run(registry, problem), reference))
            bar.step(engine)
        report.seconds = time.perf_counter() - started
        reports.append(report)
    bar.clear()
    return reports


class _ProgressBar:
    WIDTH = 40

    def __init__(self, stream: TextIO | None, steps: int) -> None:
        self.stream = stream if stream is not None and stream.isatty() else None
        self.steps = steps
        self.done = 0

    def step(self, label: str) -> None:
        self.done += 1
        if self.stream is not None:
            count = f"{self.done}/{self.steps}"
            # A line that wraps could not be drawn over; the last column stays free for the cursor.
            room = shutil.get_terminal_size().columns - len(f"{label}  {count}") - 1
            width = max(0, min(self.WIDTH, room))
            full = width * self.done // self.steps
            bar = "█" * full + "·" * (width - full)
            self.stream.write(f"\r{label} {bar} {count}")
            self.stream.flush()

    def clear(self) -> None:
        if self.stream is not None:
            self.stream.write("\r\033[K")
            self.stream.flush()


def as_text(reports: Sequence[EngineReport]) -> str:
    """Return a table of the reports, and the failures under it."""
    header = ("engine", "cases", "worst NMSE", "worst row", "|Δ|/bound", "failures", "seconds")
    limits = ("limit", "", f"{DECODE_LIMITS.nmse:.1e}", f"{DECODE_LIMITS.row_nmse:.1e}", "1", "0", "")
    rows = [
        (
            report.engine,
            str(report.cases),
            f"{report.nmse:.1e}",
            f"{report.row_nmse:.1e}",
            f"{report.ratio:.2g}",
            str(len(report.failures)),
            f"{report.seconds:.1f}",
        )
        for report in reports
    ]
    lines = ["".join(f"{cell:<12}" for cell in row).rstrip() for row in (header, *rows, limits)]
    lines += [f"{report.engine}: {failure}" for report in reports for failure in report.failures]
    return "\n".join(lines)
