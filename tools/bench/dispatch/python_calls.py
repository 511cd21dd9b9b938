"""Calls that do nothing: of a Python function, and of a C function through ctypes."""

from __future__ import annotations

import ctypes
import pathlib
import subprocess
from itertools import repeat
from time import perf_counter

from flashmetal.bench.timing import Case

__all__ = ["cases"]

CALLS = 1000
SOURCE = "int nothing(int a,int b,int c,int d,int e,float f,void*g,void*h,void*i,void*j){return a;}"


def build_library(folder: pathlib.Path) -> ctypes.CDLL:
    """Compile a C function of ten arguments."""
    source, library = folder / "nothing.c", folder / "nothing.so"
    source.write_text(SOURCE)
    subprocess.run(["cc", "-O2", "-shared", "-fPIC", source, "-o", library], check=True)
    loaded = ctypes.CDLL(str(library))
    loaded.nothing.argtypes = [ctypes.c_int] * 5 + [ctypes.c_float] + [ctypes.c_void_p] * 4
    return loaded


def nothing(a, b, c, d, e, f, g, h, i, j):
    """Take ten arguments."""


def empty_function() -> list[float]:
    """Call a Python function of ten arguments."""
    start = perf_counter()
    for _ in repeat(None, CALLS):
        nothing(1, 2, 3, 4, 5, 6.0, 7, 8, 9, 10)
    return [(perf_counter() - start) / CALLS]


def cases(folder: pathlib.Path) -> dict[str, Case]:
    """Give the cases; `folder` takes the compiled function."""
    function = build_library(folder).nothing

    def ctypes_call() -> list[float]:
        start = perf_counter()
        for _ in repeat(None, CALLS):
            function(1, 2, 3, 4, 5, 6.0, 7, 8, 9, 10)
        return [(perf_counter() - start) / CALLS]

    return {
        "empty function": Case(empty_function, loops_in_python=True),
        "ctypes": Case(ctypes_call, loops_in_python=True),
    }
