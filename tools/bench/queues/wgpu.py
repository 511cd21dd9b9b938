"""WebGPU, which runs on Vulkan or Metal: lavapipe where there is no GPU."""

from __future__ import annotations

from typing import Any

import wgpu

__all__ = ["open_queue"]

SHADER = "@compute @workgroup_size(1) fn nothing() {}"


class _Queue:
    name = "wgpu"

    def __init__(self) -> None:
        self._device = wgpu.gpu.request_adapter_sync().request_device_sync()
        module = self._device.create_shader_module(code=SHADER)
        self._pipeline = self._device.create_compute_pipeline(
            layout="auto", compute={"module": module, "entry_point": "nothing"}
        )

    def submit(self, dispatches: int) -> None:
        encoder = self._device.create_command_encoder()
        commands = encoder.begin_compute_pass()
        commands.set_pipeline(self._pipeline)
        for _ in range(dispatches):
            commands.dispatch_workgroups(1)
        commands.end()
        self._device.queue.submit([encoder.finish()])

    def wait(self, submitted: Any) -> None:
        # For all that was submitted, as the library's own reading of a buffer waits; its
        # on_submitted_work_done fails in some versions.
        self._device._poll_wait()


def open_queue() -> _Queue:
    """Open the queue of the default adapter."""
    return _Queue()
