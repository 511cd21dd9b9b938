"""The build backend: meson-python, told which Objective-C compiler to use.

Meson looks for `clang` and `gcc` only, GCC cannot compile the bridge, and Debian's newer clang is
called `clang-19`; so the newest one is named here, unless OBJC says otherwise.
"""

import os
import pathlib
import sys

from mesonpy import (
    build_editable,
    build_sdist,
    build_wheel,
    get_requires_for_build_editable,
    get_requires_for_build_sdist,
    get_requires_for_build_wheel,
)

sys.path.insert(0, str(pathlib.Path(__file__).parent))

import find_clang

os.environ.setdefault("OBJC", find_clang.command())

__all__ = [
    "build_editable",
    "build_sdist",
    "build_wheel",
    "get_requires_for_build_editable",
    "get_requires_for_build_sdist",
    "get_requires_for_build_wheel",
]
