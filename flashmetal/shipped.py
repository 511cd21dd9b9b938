"""The shaders that come with the package: their text, options and precompiled libraries."""

from __future__ import annotations

import functools
import hashlib
import pathlib
from collections.abc import Iterable
from importlib.resources import files
from typing import TYPE_CHECKING

from . import resources
from .compile_options import CompileOptions

if TYPE_CHECKING:
    from ._device import Device
    from ._registry import KernelRegistry

__all__ = ["SHADER_OPTIONS", "find_library", "register_shader"]

# Each file of shaders/ without its suffix, and how it is compiled: here at run time, by
# shaders/meson.build ahead of time.
SHADER_OPTIONS = {
    "flash_attention": CompileOptions(math_mode="relaxed"),
}


def register_shader(registry: KernelRegistry, shader: str, kernels: Iterable[str]) -> None:
    """Register kernels of a shipped shader under their names."""
    text = resources.shader(shader).read_text(encoding="utf-8")
    for kernel in kernels:
        registry.register_source(kernel, text, options=SHADER_OPTIONS[shader])


def find_library(digest: str, options: CompileOptions, device: Device) -> str | None:
    """Find the precompiled library of a source text.

    Parameters
    ----------
    digest
        SHA-256 of the text, in hex.
    options
        How the text is to be compiled.
    device
        Where it is to run.

    Returns
    -------
    str or None
        A path for the bridge; None when the text is not a shipped one, the options differ or the
        package has no library for this kind of device.
    """
    shader = _shaders_by_digest().get(digest)
    if shader is None or SHADER_OPTIONS[shader] != options:
        return None
    suffix = ".hostlib" if device.is_host else ".metallib"
    for entry in files("flashmetal").joinpath("shaders").iterdir():
        if entry.name.startswith(f"{shader}.") and entry.name.endswith(suffix):
            # One name stands for the libraries of all CPU levels.
            return str(pathlib.Path(str(entry)).parent / f"{shader}{suffix}")
    return None


@functools.cache
def _shaders_by_digest() -> dict[str, str]:
    return {
        hashlib.sha256(resources.shader(shader).read_bytes()).hexdigest(): shader
        for shader in SHADER_OPTIONS
    }
