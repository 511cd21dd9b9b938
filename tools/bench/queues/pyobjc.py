"""Metal through PyObjC, each message sent from Python."""

from __future__ import annotations

from typing import Any

import Metal

from flashmetal.bench.queues.ours import SOURCE

__all__ = ["open_queue"]


class _Queue:
    name = "pyobjc"

    def __init__(self) -> None:
        device = Metal.MTLCreateSystemDefaultDevice()
        library, error = device.newLibraryWithSource_options_error_(SOURCE, None, None)
        if library is None:
            raise RuntimeError(error)
        function = library.newFunctionWithName_("nothing")
        self._pipeline, error = device.newComputePipelineStateWithFunction_error_(function, None)
        if self._pipeline is None:
            raise RuntimeError(error)
        self._queue = device.newCommandQueue()
        self._size = Metal.MTLSizeMake(1, 1, 1)

    def submit(self, dispatches: int) -> Any:
        command_buffer = self._queue.commandBuffer()
        encoder = command_buffer.computeCommandEncoder()
        encoder.setComputePipelineState_(self._pipeline)
        for _ in range(dispatches):
            encoder.dispatchThreadgroups_threadsPerThreadgroup_(self._size, self._size)
        encoder.endEncoding()
        command_buffer.commit()
        return command_buffer

    def wait(self, submitted: Any) -> None:
        submitted.waitUntilCompleted()


def open_queue() -> _Queue:
    """Open a queue of the system's device."""
    return _Queue()
