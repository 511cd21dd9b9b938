"""What `flashmetal info` shows: the device, versions and folders in use."""

from __future__ import annotations

import platform
from typing import Any

import numpy as np

from . import __version__, _host
from ._device import Device

__all__ = ["as_text", "gather"]

# The first version of the shading language with <metal_tensor>.
_TENSOR_LANGUAGE = (4, 0)


def gather(threads: int | None = None) -> dict[str, Any]:
    """Return the facts by name, ready for JSON; those of host Metal are None on Apple's.

    Parameters
    ----------
    threads
        CPU threads of the host device, as `Device` takes them.
    """
    device = Device(threads=threads)
    return {
        "device": device.name,
        "registry_id": device.registry_id,
        "engine": device.engine or None,
        "threads": device.threads or None,
        "language_version": "{}.{}".format(*device.language_version),
        "tensor_api": device.language_version >= _TENSOR_LANGUAGE,
        "flashmetal": __version__,
        "python": platform.python_version(),
        "numpy": np.__version__,
        "compiler": _host.compiler() if device.is_host else None,
        "cache": _host.cache_folder() if device.is_host else None,
    }


def as_text(facts: dict[str, Any]) -> str:
    """Return the facts one a line, without those that do not apply."""
    return "\n".join(
        f"{name.replace('_', ' '):<18}{_value(name, value)}"
        for name, value in facts.items()
        if value is not None
    )


def _value(name: str, value: Any) -> str:
    if isinstance(value, bool):
        return "yes" if value else "no"
    return f"{value:#x}" if name == "registry_id" else str(value)
