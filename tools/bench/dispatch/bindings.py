"""Calls of a C function that does nothing, with the ten arguments of a dispatch, by binding."""

from __future__ import annotations

import ctypes
import pathlib
from collections.abc import Callable, Sequence
from itertools import repeat
from time import perf_counter

from flashmetal.bench.dispatch.compiled import compile_shared, load
from flashmetal.bench.dispatch.wrapping import array_to_wrap
from flashmetal.bench.timing import Case, warm
from flashmetal.errors import UnsupportedFeature

__all__ = ["BINDINGS", "cases", "empty_function"]

CALLS = 1000
ARGUMENTS = "int a, int b, int c, int d, int e, float f, {0} g, {0} h, {0} i, {0} j"
POINTERS = ARGUMENTS.format("void *")
# Bindings of C++ know no void pointers; an integer stands for one.
WORDS = ARGUMENTS.format("size_t")

PYBIND11 = f"""
#include <pybind11/pybind11.h>
PYBIND11_MODULE(flashmetal_pybind11, module) {{
    module.def("nothing", []({WORDS}) {{ return a; }});
}}
"""
NANOBIND = f"""
#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>
namespace nb = nanobind;
NB_MODULE(flashmetal_nanobind, module) {{
    module.def("nothing", []({WORDS}) {{ return a; }});
    module.def("take", [](nb::ndarray<uint16_t, nb::c_contig, nb::device::cpu>) {{}});
}}
"""


def nothing(a, b, c, d, e, f, g, h, i, j):
    """Take ten arguments."""


def empty_function() -> float:
    """Call a Python function of ten arguments."""
    return _time_calls(nothing)


def _time_calls(function: Callable[..., object]) -> float:
    start = perf_counter()
    for _ in repeat(None, CALLS):
        function(1, 2, 3, 4, 5, 6.0, 7, 8, 9, 10)
    return (perf_counter() - start) / CALLS


def _case(function: Callable[..., object]) -> Case:
    return Case(warm(lambda: _time_calls(function)), loops_in_python=True)


def _ctypes(folder: pathlib.Path) -> dict[str, Case]:
    source, library = folder / "nothing.c", folder / "nothing.so"
    source.write_text(f"int nothing({POINTERS}) {{ return a; }}\n")
    compile_shared(library, [source])
    function = ctypes.CDLL(str(library)).nothing
    function.argtypes = [ctypes.c_int] * 5 + [ctypes.c_float] + [ctypes.c_void_p] * 4
    return {"ctypes": _case(function)}


def _cffi(folder: pathlib.Path) -> dict[str, Case]:
    import cffi

    builder = cffi.FFI()
    builder.cdef(f"int nothing({WORDS});")
    builder.set_source(
        "flashmetal_cffi",
        f"static int nothing({WORDS}) {{ return a; }}",
        py_limited_api=False,
        compiler_verbose=0,
    )
    source = folder / "flashmetal_cffi.c"
    builder.emit_c_code(str(source))
    return {"cffi": _case(load(folder, "flashmetal_cffi", [source]).lib.nothing)}


def _pybind11(folder: pathlib.Path) -> dict[str, Case]:
    import pybind11

    source = folder / "flashmetal_pybind11.cpp"
    source.write_text(PYBIND11)
    flags = ["-std=c++17", f"-I{pybind11.get_include()}"]
    return {"pybind11": _case(load(folder, "flashmetal_pybind11", [source], flags).nothing)}


def _nanobind(folder: pathlib.Path) -> dict[str, Case]:
    import nanobind

    source = folder / "flashmetal_nanobind.cpp"
    source.write_text(NANOBIND)
    library = pathlib.Path(nanobind.source_dir())
    include = library.parent / "ext" / "robin_map" / "include"
    flags = ["-std=c++17", f"-I{nanobind.include_dir()}", f"-I{include}"]
    sources = [source, library / "nb_combined.cpp"]
    module = load(folder, "flashmetal_nanobind", sources, flags)
    take, array = module.take, array_to_wrap()

    def take_array() -> float:
        start = perf_counter()
        for _ in repeat(None, CALLS):
            take(array)
        return (perf_counter() - start) / CALLS

    return {
        "nanobind": _case(module.nothing),
        "nanobind, array argument": Case(warm(take_array), loops_in_python=True),
    }


_BINDINGS = {"ctypes": _ctypes, "cffi": _cffi, "pybind11": _pybind11, "nanobind": _nanobind}
BINDINGS = tuple(_BINDINGS)


def cases(names: Sequence[str], folder: pathlib.Path) -> tuple[dict[str, Case], dict[str, str]]:
    """Give the empty Python function and some bindings.

    Parameters
    ----------
    names
        Some of `BINDINGS`.
    folder
        Takes what is compiled.

    Returns
    -------
    tuple
        The cases, and why bindings are left out, by name.
    """
    given = {"empty function": Case(warm(empty_function), loops_in_python=True)}
    left_out: dict[str, str] = {}
    for name in names:
        try:
            given |= _BINDINGS[name](folder)
        except ImportError as error:
            left_out[name] = f"not installed: {error.name or error}"
        except UnsupportedFeature as error:
            left_out[name] = error.args[0]
    return given, left_out
