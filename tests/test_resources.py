"""Files of the package are found, however it is installed."""

import pathlib

import pytest

import flashmetal as fm
from flashmetal import _host, resources
from flashmetal.errors import IoError


def test_c_header_is_where_get_include_says():
    header = pathlib.Path(fm.get_include()) / "flashmetal.h"
    assert "fm_device_create" in header.read_text(encoding="utf-8")


def test_declarations_for_cython_are_where_get_cython_include_says():
    folder = pathlib.Path(fm.get_cython_include()) / "flashmetal"
    for module in ("_bridge", "_buffer", "_device", "_encoder", "_plan", "_decode_step"):
        assert (folder / f"{module}.pxd").is_file()


def test_shader_text():
    assert "flash_attention_hd64" in resources.shader("flash_attention").read_text(encoding="utf-8")


def test_headers_of_the_shading_language_share_a_folder():
    if not _host.available():
        pytest.skip("Apple's compiler brings its own")
    folder = resources.msl_include()
    assert (folder / "metal_stdlib").is_file()
    assert (folder / "__msl_abi.h").is_file()


def test_missing_files_are_named():
    with pytest.raises(IoError, match=r"I/O error: shaders/none\.metal is missing"):
        resources.shader("none")
