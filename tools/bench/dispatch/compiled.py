"""Extension modules compiled while they are measured, in a folder that is thrown away."""

from __future__ import annotations

import importlib.util
import pathlib
import subprocess
import sysconfig
from collections.abc import Sequence
from types import ModuleType

from flashmetal.errors import UnsupportedFeature

__all__ = ["compile_shared", "load"]

# As extension modules are linked: the interpreter has the symbols of Python's API.
_LINKED = ("-undefined", "dynamic_lookup")


def compile_shared(
    library: pathlib.Path, sources: Sequence[pathlib.Path], flags: Sequence[str] = ()
) -> None:
    """Compile sources to a shared library.

    Raises
    ------
    UnsupportedFeature
        There is no compiler, or it fails.
    """
    compiler = "c++" if sources[0].suffix == ".cpp" else "cc"
    command = [compiler, "-O2", "-DNDEBUG", "-shared", "-fPIC", *flags, *map(str, sources)]
    if sysconfig.get_platform().startswith("macosx"):
        command += _LINKED
    try:
        subprocess.run([*command, "-o", str(library)], check=True, capture_output=True)
    except FileNotFoundError as error:
        raise UnsupportedFeature(f"there is no compiler {compiler} to build it with") from error
    except subprocess.CalledProcessError as error:
        text = error.stderr.decode(errors="replace").strip().splitlines()
        raise UnsupportedFeature(f"{compiler} failed: {text[0] if text else error}") from error


def load(
    folder: pathlib.Path, name: str, sources: Sequence[pathlib.Path], flags: Sequence[str] = ()
) -> ModuleType:
    """Compile an extension module into a folder, and import it.

    Raises
    ------
    UnsupportedFeature
        As `compile_shared`.
    """
    library = folder / f"{name}{sysconfig.get_config_var('EXT_SUFFIX')}"
    include = sysconfig.get_path("include")
    compile_shared(library, sources, [f"-I{include}", "-fvisibility=hidden", *flags])
    spec = importlib.util.spec_from_file_location(name, library)
    if spec is None or spec.loader is None:
        raise UnsupportedFeature(f"{library} is no extension module")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module
