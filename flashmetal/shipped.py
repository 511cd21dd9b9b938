"""The shaders that come with the package: their text, options and precompiled libraries."""

from __future__ import annotations

import dataclasses
import functools
import hashlib
import pathlib
from collections.abc import Iterable
from fnmatch import fnmatchcase
from importlib.resources import files
from typing import TYPE_CHECKING, Any

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
    "flash_attn_prefill_blk": CompileOptions(math_mode="relaxed"),
    "flash_attn_prefill_simdgroup": CompileOptions(math_mode="relaxed"),
    "flash_attn_prefill_tensor": CompileOptions(language_version="4.0", math_mode="relaxed"),
}


def register_shader(registry: KernelRegistry, shader: str, kernels: Iterable[str]) -> None:
    """Register kernels of a shipped shader under their names."""
    text = resources.shader(shader).read_text(encoding="utf-8")
    options = _options_for(registry.device, shader)
    for kernel in kernels:
        registry.register_source(kernel, text, options=options)


def _options_for(device: Device, shader: str) -> CompileOptions:
    options = SHADER_OPTIONS[shader]
    major, minor = device.language_version
    if options.packed_version <= (major << 16 | minor):
        return options
    # The compiler then says what an older system lacks.
    return dataclasses.replace(options, language_version=None)


def find_library(
    digest: str,
    options: CompileOptions,
    constants: Iterable[tuple[int, Any]],
    device: Device,
) -> str | None:
    """Find the precompiled library of a source text.

    Parameters
    ----------
    digest
        SHA-256 of the text, in hex.
    options
        How the text is to be compiled.
    constants
        Index and value of each function constant.
    device
        Where it is to run.

    Returns
    -------
    str or None
        A path for the bridge; None when the text is not a shipped one, the options differ or the
        package has no library for this kind of device or these constants.
    """
    if device.checks:
        return None  # they were compiled without
    shader = _shaders_by_digest().get(digest)
    if shader is None or SHADER_OPTIONS[shader] != options:
        return None
    if device.is_host:
        # Constants are compiled in, and one name stands for the libraries of all CPU levels.
        pairs = sorted(constants)
        if not all(isinstance(value, int) for _, value in pairs):
            return None  # only integers are in their names
        stem = ".".join([shader, *(f"{index}={value:d}" for index, value in pairs)])
        return _find_file(f"{stem}.hostlib", f"{stem}.*.hostlib")
    return _find_file(f"{shader}.metallib", f"{shader}.metallib")


def _find_file(name: str, pattern: str) -> str | None:
    """Return a path of this name beside a file of the pattern, whose * stands for no full stop."""
    for entry in files("flashmetal").joinpath("shaders").iterdir():
        if fnmatchcase(entry.name, pattern) and entry.name.count(".") == pattern.count("."):
            return str(pathlib.Path(str(entry)).parent / name)
    return None


@functools.cache
def _shaders_by_digest() -> dict[str, str]:
    return {
        hashlib.sha256(resources.shader(shader).read_bytes()).hexdigest(): shader
        for shader in SHADER_OPTIONS
    }
