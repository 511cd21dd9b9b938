"""Memory of other libraries as buffers, without a device at hand."""

from __future__ import annotations

import functools

from ._buffer import Buffer
from ._device import Device
from .errors import InvalidType

__all__ = ["from_dlpack"]


def from_dlpack(x: object, device: Device | None = None, copy: bool | None = False) -> Buffer:
    """Use a tensor of another library as a buffer: PyTorch, JAX, MLX, NumPy and others.

    What it says is read-only stays so, and so does what cannot say it, as older tensors cannot.

    Parameters
    ----------
    x
        Has DLPack's methods or the buffer protocol, and its memory on the CPU.
    device
        That uses it; the system's when None.
    copy
        False never copies, True always does, None copies where the memory cannot be used in place.

    Returns
    -------
    Buffer
        With the tensor's dtype and shape, on the tensor's own memory unless it is a copy.

    Raises
    ------
    InvalidArgument
        When the memory cannot be used in place, or `x` has neither protocol, or breaks DLPack's
        rules; also for a `device` of another kind.
    UnsupportedDtype
        Another element type or byte order.
    BufferAllocationError
        Metal refuses the memory.
    DeviceNotFound
        There is no Metal device.
    InvalidState
        The process was forked after it had made a device.
    """
    if device is None:
        device = _default_device()
    elif not isinstance(device, Device):
        raise InvalidType(
            "from_dlpack: device must be a flashmetal.Device, which uses memory of the CPU, or "
            f"None, got {device!r}"
        )
    return device.wrap(x, copy=copy)


@functools.cache
def _default_device() -> Device:
    return Device()
