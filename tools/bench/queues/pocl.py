"""OpenCL on the CPU, through pyopencl."""

from __future__ import annotations

from typing import Any

import pyopencl

__all__ = ["open_queue"]


class _Queue:
    name = "pocl"

    def __init__(self) -> None:
        context = pyopencl.Context([_device()])
        self._queue = pyopencl.CommandQueue(context)
        program = pyopencl.Program(context, "__kernel void nothing() {}").build()
        self._kernel = pyopencl.Kernel(program, "nothing")

    def submit(self, dispatches: int) -> Any:
        for _ in range(dispatches):
            event = pyopencl.enqueue_nd_range_kernel(self._queue, self._kernel, (1,), (1,))
        self._queue.flush()
        return event

    def wait(self, submitted: Any) -> None:
        submitted.wait()

    def enqueue_and_finish(self) -> None:
        """Run one dispatch as a program does that has only one."""
        pyopencl.enqueue_nd_range_kernel(self._queue, self._kernel, (1,), (1,))
        self._queue.finish()


def _device() -> pyopencl.Device:
    for platform in pyopencl.get_platforms():
        if platform.name == "Portable Computing Language":
            return platform.get_devices()[0]
    raise ImportError("no PoCL among the platforms of OpenCL", name="pocl-binary-distribution")


def open_queue() -> _Queue:
    """Open a queue of its device."""
    return _Queue()
