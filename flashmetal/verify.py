"""Accuracy of the kernels against float64, over a grid of shapes and hostile inputs."""

from __future__ import annotations

import itertools
import math
import time
from collections.abc import Sequence
from dataclasses import asdict, dataclass, field
from typing import Any, Literal, TextIO

from ._device import Device
from ._progress import ProgressBar
from ._registry import KernelRegistry
from .errors import UnsupportedFeature
from .reference import Accuracy
from .verify_cases import OPERATIONS, Case

__all__ = ["Report", "as_text", "engines_of", "verify"]


@dataclass
class Report:
    """What one engine made of the cases of one operation.

    Parameters
    ----------
    engine
        Its name, "metal" for Apple's.
    device
        The device's name.
    operation
        The operation's name.
    lacks
        What the device lacks to run it; None when it ran.
    cases
        How many ran.
    nmse, row_nmse
        Worst of any case with unit-normal inputs: over all elements, and of one head. Prefill of
        few rows is left out of the former, prefill of a head_dim below 64 of the latter, for their
        limits are others.
    ratio
        Worst |Δ| / bound of any element of any case.
    failures
        The cases that broke a limit, with what they measured.
    seconds
        Time of it all, references included.
    """

    engine: str
    device: str
    operation: str
    lacks: str | None = None
    cases: int = 0
    nmse: float = 0.0
    row_nmse: float = 0.0
    ratio: float = 0.0
    failures: list[str] = field(default_factory=list)
    seconds: float = 0.0

    def add(self, case: Case, accuracy: Accuracy) -> None:
        """Count a case's accuracy in."""
        self.cases += 1
        self.ratio = max(self.ratio, accuracy.ratio)
        if case.is_unit_normal:
            limits = OPERATIONS[self.operation].limits
            if accuracy.limits.row_nmse == limits.row_nmse:
                self.row_nmse = max(self.row_nmse, accuracy.row_nmse)
            if accuracy.limits.nmse == limits.nmse:
                self.nmse = max(self.nmse, accuracy.nmse)
        within_limits = accuracy.within_nmse_limits or not case.is_unit_normal
        if not (accuracy.within_bound and within_limits):
            self.failures.append(
                f"{case}: NMSE {accuracy.nmse:.2g}, worst row {accuracy.row_nmse:.2g}, "
                f"|Δ|/bound {accuracy.ratio:.2g}"
            )

    def as_dict(self) -> dict[str, Any]:
        """Return the fields, ready for JSON, which has no infinity: None in its place."""
        return {name: None if value == math.inf else value for name, value in asdict(self).items()}


def engines_of(
    engine: Literal["auto", "simt", "native"] | None = None, threads: int | None = None
) -> dict[str, Device]:
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
    found: dict[str, Device] = {}
    names: tuple[Literal["simt", "native"], ...] = ("simt", "native")
    for name in names:
        try:
            found[name] = Device(engine=name, threads=threads)
        except UnsupportedFeature:
            continue
    return found


def verify(
    engines: dict[str, Device], cases: Sequence[Case], progress: TextIO | None = None
) -> list[Report]:
    """Compare each engine's attention with float64.

    Parameters
    ----------
    engines
        Devices by the name of their engine, as `engines_of` returns them.
    cases
        What to run, e.g. `verify_cases.grid`.
    progress
        Where to draw a progress bar; none is drawn unless it is a terminal.

    Returns
    -------
    list of Report
        One for each engine and operation; its `failures` are empty when all is well.
    """
    bar = ProgressBar(progress, len(cases) * len(engines))
    by_operation = {name: [case for case in cases if case.operation == name] for name in OPERATIONS}
    reports = [
        _verify_operation(engine, device, name, of_operation, bar)
        for (engine, device), (name, of_operation) in itertools.product(
            engines.items(), by_operation.items()
        )
        if of_operation
    ]
    bar.clear()
    return reports


def _verify_operation(
    engine: str, device: Device, name: str, cases: Sequence[Case], bar: ProgressBar
) -> Report:
    operation = OPERATIONS[name]
    registry = KernelRegistry(device)
    operation.register(registry)
    report = Report(engine, device.name, name, operation.lacks(engine, registry))
    started = time.perf_counter()
    for case in cases:
        if report.lacks is None:
            report.add(case, case.measure(registry))
        bar.step(engine)
    report.seconds = time.perf_counter() - started
    return report


def as_text(reports: Sequence[Report]) -> str:
    """Return a table of the reports with the limits, and what was left out or failed under it."""
    header = ("engine", "cases", "worst NMSE", "worst row", "|Δ|/bound", "failures", "seconds")
    lines = []
    for operation in dict.fromkeys(report.operation for report in reports):
        limits = OPERATIONS[operation].limits
        limit = ("limit", "", f"{limits.nmse:.1e}", f"{limits.row_nmse:.1e}", "1", "0", "")
        ran = [report for report in reports if report.lacks is None]
        rows = [_row(report) for report in ran if report.operation == operation]
        lines += [f"{operation}:", *map(_line, (header, *rows, limit)), ""]
    for report in reports:
        if report.lacks is not None:
            lines.append(f"{report.engine}: no {report.operation}: lacks {report.lacks}")
        lines += [f"{report.engine}: {failure}" for failure in report.failures]
    return "\n".join(lines).rstrip("\n")


def _row(report: Report) -> tuple[str, ...]:
    return (
        report.engine,
        str(report.cases),
        f"{report.nmse:.1e}",
        f"{report.row_nmse:.1e}",
        f"{report.ratio:.2g}",
        str(len(report.failures)),
        f"{report.seconds:.1f}",
    )


def _line(cells: Sequence[str]) -> str:
    return "".join(f"{cell:<12}" for cell in cells).rstrip()
