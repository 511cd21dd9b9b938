from ._buffer import Buffer
from ._device import Device

def wrap(
    device: Device, obj: object, copy: bool | None = False, strict: bool = False
) -> Buffer: ...
