"""flashmetal.dtype: names, sizes and the mapping to and from NumPy."""

import sys

import numpy as np
import pytest

from flashmetal import dtype
from flashmetal.errors import UnsupportedDtype

NUMPY = {
    "f32": np.float32,
    "f16": np.float16,
    "u8": np.uint8,
    "u16": np.uint16,
    "u32": np.uint32,
    "i32": np.int32,
}
SWAPPED = {"little": ">", "big": "<"}[sys.byteorder]


def test_names_and_sizes():
    sizes = {name: found.size for name, found in dtype.DTYPES.items()}
    assert sizes == {"f32": 4, "f16": 2, "bf16": 2, "u8": 1, "u16": 2, "u32": 4, "i32": 4}


@pytest.mark.parametrize("name", dtype.DTYPES)
def test_own_names_win_over_numpy_codes(name):
    # NumPy's "f16" is a long double, its "u8" an eight-byte integer.
    assert dtype.name_of(name) == name


@pytest.mark.parametrize("name", NUMPY)
def test_numpy_types_map_both_ways(name):
    assert dtype.numpy_dtype(name) == NUMPY[name]
    for spelling in (NUMPY[name], np.dtype(NUMPY[name]), np.dtype(NUMPY[name]).name):
        assert dtype.name_of(spelling) == name


def test_bfloat16_is_that_of_ml_dtypes():
    bfloat16 = pytest.importorskip("ml_dtypes").bfloat16
    assert dtype.name_of(bfloat16) == "bf16"
    assert dtype.name_of(np.dtype(bfloat16)) == "bf16"
    assert dtype.numpy_dtype("bf16") == bfloat16


def test_bfloat16_without_ml_dtypes_says_what_to_install(monkeypatch):
    monkeypatch.setitem(sys.modules, "ml_dtypes", None)
    with pytest.raises(UnsupportedDtype, match="pip install ml_dtypes"):
        dtype.numpy_dtype("bf16")


@pytest.mark.parametrize(
    "spelling",
    ["float64", np.int64, np.int8, bool, complex, "O", "U3", "M8[s]", "f64", 3, None, "\ud800"],
)
def test_other_types_are_refused_with_the_way_out(spelling):
    with pytest.raises(UnsupportedDtype, match=r"^Unsupported dtype: .*astype"):
        dtype.name_of(spelling)


def test_swapped_byte_order_is_refused_with_the_way_out():
    with pytest.raises(UnsupportedDtype, match=r"byte order.*astype.*byteswap"):
        dtype.name_of(SWAPPED + "f4")


def test_structured_types_are_refused_with_the_way_out():
    with pytest.raises(UnsupportedDtype, match=r"one field.*astype"):
        dtype.name_of([("a", "f4"), ("b", "f4")])


@pytest.mark.parametrize("order", ["", "@", "=", {"little": "<", "big": ">"}[sys.byteorder]])
@pytest.mark.parametrize(
    ("code", "size", "name"),
    [
        ("f", 4, "f32"),
        ("e", 2, "f16"),
        ("B", 1, "u8"),
        ("H", 2, "u16"),
        ("I", 4, "u32"),
        ("i", 4, "i32"),
        ("l", 4, "i32"),
    ],
)
def test_formats_in_native_order(order, code, size, name):
    assert dtype.name_of_format(order + code, size) == name


@pytest.mark.parametrize(
    ("text", "size"),
    [("d", 8), ("l", 8), ("b", 1), ("?", 1), ("h", 2), ("T{f:a:}", 4), ("3s", 3), ("", 1)],
)
def test_other_formats_are_refused(text, size):
    with pytest.raises(UnsupportedDtype, match="astype"):
        dtype.name_of_format(text, size)


@pytest.mark.parametrize("order", [SWAPPED, "!"] if sys.byteorder == "little" else [SWAPPED])
def test_swapped_formats_are_refused_but_for_single_bytes(order):
    with pytest.raises(UnsupportedDtype, match="byteswap"):
        dtype.name_of_format(order + "f", 4)
    assert dtype.name_of_format(order + "B", 1) == "u8"
