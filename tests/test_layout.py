"""The rules of the source tree, read off the tracked files."""

import pathlib
import re
import statistics
import subprocess

import pytest

ROOT = pathlib.Path(__file__).parent.parent
LONGEST = 600  # lines of a file
TYPICAL = 200  # lines of the median file, at most
CODE = {".py", ".pyx", ".pxd", ".pyi", ".m", ".h", ".c", ".cpp", ".cuh", ".S", ".metal", ".sh"}


if not (ROOT / ".git").exists():
    pytest.skip("a source distribution has no list of tracked files", allow_module_level=True)


def tracked():
    listed = subprocess.run(
        ["git", "ls-files"], cwd=ROOT, capture_output=True, text=True, check=True
    )
    return [pathlib.PurePath(name) for name in listed.stdout.splitlines()]


FILES = tracked()


def under(folder, *suffixes):
    return [path for path in FILES if path.is_relative_to(folder) and path.suffix in suffixes]


def text(path):
    return (ROOT / path).read_text(encoding="utf-8")


def lines_with(pattern, paths):
    return [
        f"{path}:{number}: {line.strip()}"
        for path in paths
        for number, line in enumerate(text(path).splitlines(), 1)
        if re.search(pattern, line)
    ]


def test_files_stay_small():
    sizes = {path: len(text(path).splitlines()) for path in FILES if path.suffix in CODE}
    assert {str(path): size for path, size in sizes.items() if size > LONGEST} == {}
    assert statistics.median(sizes.values()) <= TYPICAL


def test_generated_code_is_not_committed():
    assert under("flashmetal", ".c", ".cpp", ".so") == []


def test_facade_and_core_name_neither_metal_headers_nor_ctypes():
    sources = under("flashmetal", ".py", ".pyx", ".pxd")
    assert lines_with(r"Metal/Metal\.h|#import|\bctypes\b", sources) == []


def test_bridge_and_host_metal_know_no_python():
    sources = under("bridge", ".m", ".h", ".c", ".cpp")
    assert lines_with(r"Python\.h|\bPy[A-Z]\w+_", sources) == []


def test_compiler_and_engine_know_no_objective_c():
    sources = under("bridge/host/msl", ".h", ".cpp", ".c") + under("bridge/host/simt", ".h", ".cpp")
    assert lines_with(r"#import|\bid<|@interface|objc/", sources) == []


def test_bridge_sources_do_not_ask_for_the_platform():
    sources = [path for path in under("bridge", ".m", ".c", ".h") if "host" not in path.parts]
    assert lines_with(r"#\s*if.*(__APPLE__|__linux__|TARGET_OS|@available)", sources) == []


def test_shaders_include_only_metal_headers_and_each_other():
    includes = lines_with(r"#\s*include", under("shaders", ".metal", ".h"))
    own = r"<metal_\w+>|<MetalPerformancePrimitives/MetalPerformancePrimitives\.h>|\"\w+\.h\""
    assert [line for line in includes if not re.search(own, line)] == []


def test_only_one_extension_links_the_bridge():
    assert text(pathlib.PurePath("flashmetal/meson.build")).count("bridge_dep") == 1
    externs = lines_with(r'cdef extern from "flashmetal\.h"', under("flashmetal", ".pyx", ".pxd"))
    assert {line.split(":")[0] for line in externs} <= {
        "flashmetal/_bridge.pxd",
        "flashmetal/_bridge.pyx",
    }


def test_version_is_written_once():
    version = re.search(r"version: '([\d.]+)'", text(pathlib.PurePath("meson.build")))[1]
    written = lines_with(rf"(?<![\d.]){re.escape(version)}(?![\d.])", FILES_OF_CODE)
    # The header's comment shows the form of a version.
    assert [line for line in written if "e.g." not in line] == []


FILES_OF_CODE = [path for path in FILES if path.suffix in CODE | {".toml"}]


@pytest.mark.parametrize("path", under("flashmetal", ".pyx"), ids=str)
def test_every_core_module_has_declarations_and_stubs(path):
    assert path.with_suffix(".pyi") in FILES


def test_header_of_the_c_abi_stays_short():
    assert len(text(pathlib.PurePath("bridge/include/flashmetal.h")).splitlines()) < 300


def test_nothing_is_left_unfinished():
    words = r"\b(TODO|FIXME|XXX|HACK)\b|NotImplementedError"
    sources = [path for path in FILES_OF_CODE if path.name != "test_layout.py"]
    assert lines_with(words, sources) == []


def test_no_absolute_paths_of_a_developer():
    text_files = [path for path in FILES if path.name != "test_layout.py"]
    assert lines_with(r"/(home|Users|root)/\w", text_files) == []
