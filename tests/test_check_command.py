"""`flashmetal check`: what it says of Metal sources, and its exit status."""

import json
import os

import pytest
from small_kernels import ADD

from flashmetal import _host, cli

pytestmark = pytest.mark.skipif(not _host.available(), reason="it compiles on host Metal")

SCALED = """#include <metal_stdlib>
#include "scale.h"
using namespace metal;
constant int STEP [[function_constant(3)]];
kernel void scaled(device float *x [[buffer(2)]], constant Scale &scale [[buffer(0)]],
                   threadgroup float *block [[threadgroup(1)]],
                   uint i [[thread_position_in_grid]]) {
    threadgroup float shared[8];
    shared[i % 8] = block[i] = x[i];
    threadgroup_barrier(mem_flags::mem_threadgroup);
    x[i * STEP] = scale.factor * shared[i % 8] * TIMES;
}
"""


@pytest.fixture
def folder(tmp_path):
    (tmp_path / "add.metal").write_text(ADD)
    (tmp_path / "bad.metal").write_text(ADD.replace("in[i]", "inn[i]"))
    (tmp_path / "scaled.metal").write_text(SCALED)
    (tmp_path / "include").mkdir()
    (tmp_path / "include" / "scale.h").write_text("struct Scale { float factor, spare; };\n")
    return tmp_path


def check(capsys, *arguments):
    status = cli.main(["check", *map(str, arguments)])
    return status, capsys.readouterr()


def test_kernels_and_their_arguments(folder, capsys):
    status, printed = check(capsys, folder / "add.metal")
    assert status == 0
    assert "kernel add: 1024 threads, 0 bytes of threadgroup memory" in printed.out
    assert "buffer(0) in: reads, 4 bytes" in printed.out
    assert "buffer(1) out: writes, 4 bytes" in printed.out


def test_errors_stand_in_the_file(folder, capsys):
    status, printed = check(capsys, folder / "bad.metal", folder / "add.metal")
    assert status == 1
    assert f"{folder / 'bad.metal'}:6:14: error: use of undeclared identifier 'inn'" in printed.out
    assert "kernel add" in printed.out


def test_json_macros_constants_and_headers(folder, capsys):
    arguments = [folder / "scaled.metal", "--json", "--define", "TIMES=2.0f"]
    arguments += ["--include", folder / "include"]
    status, printed = check(capsys, *arguments)
    assert status == 0
    (file,) = json.loads(printed.out)["files"]
    assert file["kernels"] == [
        {"name": "scaled", "missing_constants": [{"name": "STEP", "index": 3}]}
    ]

    status, printed = check(capsys, *arguments, "--constant", "3=4")
    assert status == 0
    report = json.loads(printed.out)
    assert report["passed"]
    (kernel,) = report["files"][0]["kernels"]
    assert kernel["threadgroup_memory"] == 32
    assert kernel["arguments"] == [
        {"kind": "buffer", "index": 0, "name": "scale", "access": "reads", "size": 8},
        {"kind": "buffer", "index": 2, "name": "x", "access": "writes", "size": 4},
        {"kind": "threadgroup", "index": 1, "name": None, "access": "writes", "size": 0},
    ]


@pytest.mark.parametrize(
    ("arguments", "text"),
    [
        (["missing.metal"], "cannot read missing.metal"),
        (["binary.metal"], "cannot read binary.metal: it is not UTF-8 text"),
        (["--include", "nowhere", "add.metal"], "cannot read nowhere: No such file"),
        (["--include", "add.metal", "add.metal"], "cannot read add.metal: Not a directory"),
        (["--constant", "x-=1", "add.metal"], "--constant takes INDEX=VALUE or NAME=VALUE"),
        (["--constant", "x=one", "add.metal"], "--constant takes INDEX=VALUE or NAME=VALUE"),
        (["--constant", "x=1", "add.metal"], "--constant x: no file declares such a constant"),
        (["--constant", "7=1", "add.metal"], "--constant 7: no file declares such a constant"),
    ],
)
def test_wrong_usage(folder, capsys, monkeypatch, arguments, text):
    monkeypatch.chdir(folder)
    (folder / "binary.metal").write_bytes(b"\xff\x00")
    status, printed = check(capsys, *arguments)
    assert status == 2
    assert text in printed.err
    assert not printed.out


def test_constants_are_given_by_name_and_of_every_type(folder, capsys):
    source = (
        "constant float2 shift [[function_constant(0)]];\n"
        "constant bool on [[function_constant(1)]];\n"
        "kernel void k(device float *x [[buffer(0)]]) { if (on) x[0] = shift.y; }\n"
    )
    (folder / "k.metal").write_text(source)
    paths = [folder / "k.metal", folder / "add.metal"]
    status, printed = check(capsys, *paths)
    assert status == 0
    assert "shift (--constant shift=VALUE, or 0=VALUE)" in printed.out
    assert "on (--constant on=VALUE, or 1=VALUE)" in printed.out
    given = ["--constant", "shift=0.5,-1e3", "--constant", "1=true"]
    status, printed = check(capsys, *paths, *given, "--json")
    assert status == 0
    files = json.loads(printed.out)["files"]
    assert [kernel["name"] for file in files for kernel in file["kernels"]] == ["k", "add"]
    assert files[0]["kernels"][0]["arguments"]
    assert files[0]["constants"] == [
        {"index": 0, "type": "float2", "name": "shift"},
        {"index": 1, "type": "bool", "name": "on"},
    ]
    status, printed = check(capsys, *paths, "--constant", "on=2")
    assert status == 2
    assert "function constant 'on' (index 1, bool) must be True or False, got 2" in printed.err


def test_headers_are_found_beside_the_file_and_then_in_the_folders(folder, capsys):
    (folder / "own").mkdir()
    (folder / "own" / "a.metal").write_text('#include "sub/b.h"\nkernel void k() { X; Y; }\n')
    (folder / "own" / "sub").mkdir()
    (folder / "own" / "sub" / "b.h").write_text('#include "c.h"\n#include <scale.h>\n')
    (folder / "own" / "sub" / "c.h").write_text("#define X Scale s; float f = s.factor\n")
    (folder / "own" / "sub" / "scale.h").write_text("#error brackets look in folders only\n")
    (folder / "include" / "c.h").write_text("#error there is one beside the header\n")
    arguments = [folder / "own" / "a.metal", "--include", folder / "include"]
    status, printed = check(capsys, *arguments, "--define", "Y=")
    assert (status, printed.err) == (0, "")
    (folder / "own" / "sub" / "c.h").write_text("#define X\nfloat f = g;\n")
    status, printed = check(capsys, *arguments)
    assert status == 1
    assert f"{folder / 'own/sub/c.h'}:2:11: error: use of undeclared identifier 'g'" in printed.out


def test_a_header_that_is_missing_tells_the_paths(folder, capsys):
    status, printed = check(
        capsys, folder / "scaled.metal", "--include", folder, "--include", folder / "include/.."
    )
    assert status == 1
    assert f"{folder / 'scaled.metal'}:2:10: fatal error: 'scale.h' file not found" in printed.out
    assert printed.out.endswith(f"note: 'scale.h' was looked up as {folder / 'scale.h'}\n")


def test_a_header_that_is_no_text_is_named(folder, capsys):
    (folder / "scale.h").write_bytes(b"\xff")
    status, printed = check(capsys, folder / "scaled.metal")
    assert status == 2
    assert f"cannot read {folder / 'scale.h'}: it is not UTF-8 text" in printed.err


def test_a_file_without_kernels_says_so(folder, capsys):
    (folder / "empty.metal").write_text("")
    status, printed = check(capsys, folder / "empty.metal")
    assert status == 0
    assert printed.out == f"{folder / 'empty.metal'}: no kernels\n"


def test_a_file_is_named_as_the_system_names_it(folder, capsys):
    path = os.fsencode(folder / "add") + b"\xff.metal"
    os.rename(folder / "add.metal", path)
    status, printed = check(capsys, os.fsdecode(path), "--json")
    assert status == 0
    (file,) = json.loads(printed.out)["files"]
    assert os.fsencode(file["file"]) == path
