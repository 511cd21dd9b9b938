"""Ours: plans encoded one by one, a step encoded at once, and the C twin of both."""

from __future__ import annotations

import functools
from typing import Any

import flashmetal as fm
from flashmetal._twin import LaunchTwin
from flashmetal.bench.queues import Queue

__all__ = ["MODES", "Noop", "open_queues"]

MODES = ("block", "spin")
SOURCE = "#include <metal_stdlib>\nkernel void nothing() {}\n"


class Noop:
    """A device, and the plan of a dispatch that does nothing on it."""

    def __init__(self) -> None:
        self.device = fm.Device()
        registry = fm.KernelRegistry(self.device)
        registry.register_source("nothing", SOURCE)
        self.plan = fm.LaunchPlan(registry.get_pipeline("nothing"), {}, 1, 1)
        self.twin = LaunchTwin(self.plan)


class _Waiting:
    def __init__(self, kind: str, noop: Noop, mode: str) -> None:
        self.name = f"{kind}, {mode}"
        self._device = noop.device
        self._mode = mode

    def wait(self, submitted: Any) -> None:
        submitted.wait(None, self._mode)


class _Plans(_Waiting):
    def __init__(self, noop: Noop, mode: str) -> None:
        super().__init__("plans", noop, mode)
        self._plan = noop.plan

    def submit(self, dispatches: int) -> fm.CommandEncoder:
        encoder = self._device.encoder()
        encode = self._plan.encode
        for _ in range(dispatches):
            encode(encoder)
        encoder.commit()
        return encoder


class _Step(_Waiting):
    def __init__(self, noop: Noop, mode: str) -> None:
        super().__init__("step", noop, mode)
        # Made before the first of them is timed, as a program makes its steps.
        self._step = functools.cache(lambda dispatches: fm.DecodeStep([noop.plan] * dispatches))

    def submit(self, dispatches: int) -> fm.CommandEncoder:
        encoder = self._device.encoder()
        self._step(dispatches).encode(encoder, 0)
        encoder.commit()
        return encoder


def open_queues(noop: Noop) -> list[Queue]:
    """Give plans and steps, each waited for in both modes."""
    return [kind(noop, mode) for kind in (_Plans, _Step) for mode in MODES]
