"""mtlpy, which needs a Mac."""

from __future__ import annotations

from typing import Any

import mtlpy

from flashmetal.bench.queues.ours import SOURCE

__all__ = ["open_queue"]


class _Queue:
    name = "mtlpy"

    def __init__(self) -> None:
        self._device = mtlpy.Device()
        self._pipeline = self._device.compile(SOURCE, "nothing")

    def submit(self, dispatches: int) -> Any:
        command_buffer = self._device.command_buffer()
        for _ in range(dispatches):
            self._pipeline.run([], grid=1, cb=command_buffer)
        return command_buffer

    def wait(self, submitted: Any) -> None:
        # Committed here: the library waits in its commit or not at all.
        submitted.commit()


def open_queue() -> _Queue:
    """Open the queue of the default device."""
    return _Queue()
