"""Where the files of the package are: shaders, headers of the shading language, the C header."""

from __future__ import annotations

import pathlib
from importlib.resources import files

from .errors import IoError

__all__ = ["find", "get_cython_include", "get_include", "msl_include", "shader"]


def find(*parts: str) -> pathlib.Path:
    """Find a file of the package.

    An editable install keeps no folder of the package together, so folders are found through a
    file that they hold.

    Raises
    ------
    IoError
        The installation lacks it.
    """
    found = files("flashmetal")
    for part in parts:
        found = found / part
    path = pathlib.Path(str(found))
    if not path.is_file():
        raise IoError(f"{'/'.join(parts)} is missing from the flashmetal package: install it again")
    return path


def msl_include() -> pathlib.Path:
    """Find the folder of the headers that shaders include on host Metal."""
    return find("msl", "metal_stdlib").parent


def get_include() -> str:
    """Give the folder of flashmetal.h, for C and Cython code that calls the core directly.

    Cython code also needs `get_cython_include`.
    """
    return str(find("include", "flashmetal.h").parent)


def get_cython_include() -> str:
    """Give the folder to name in cythonize's include_path, for `cimport flashmetal...`."""
    return str(find("__init__.pxd").parent.parent)


def shader(name: str) -> pathlib.Path:
    """Find the text of a shipped shader."""
    return find("shaders", f"{name}.metal")
