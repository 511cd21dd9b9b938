"""Element types: their names and sizes, and what NumPy and the buffer protocol call them."""

from __future__ import annotations

import sys
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import DTypeLike

from .errors import UnsupportedDtype

__all__ = [
    "DTYPES",
    "DType",
    "name_of",
    "name_of_dlpack",
    "name_of_format",
    "numpy_dtype",
    "without_bfloat16",
]

NATIVE_ORDER = {"little": "<", "big": ">"}[sys.byteorder]


class DType(NamedTuple):
    """An element type."""

    name: str
    size: int
    """Bytes of one element."""
    numpy_name: str
    format: str
    """Of the buffer protocol, which has none for bf16."""
    dlpack: int
    """DLPack's code: 0 for signed and 1 for unsigned integers, 2 for floats, 4 for bfloat."""


DTYPES = {
    dtype.name: dtype
    for dtype in (
        DType("f32", 4, "float32", "f", 2),
        DType("f16", 2, "float16", "e", 2),
        DType("bf16", 2, "bfloat16", "H", 4),
        DType("u8", 1, "uint8", "B", 1),
        DType("u16", 2, "uint16", "H", 1),
        DType("u32", 4, "uint32", "I", 1),
        DType("i32", 4, "int32", "i", 0),
    )
}

NAME_OF_NUMPY = {dtype.numpy_name: dtype.name for dtype in DTYPES.values()}

# C's long is 4 bytes on some systems; a bytes object's characters are bytes.
NAME_OF_FORMAT = {
    ("f", 4): "f32",
    ("e", 2): "f16",
    ("B", 1): "u8",
    ("c", 1): "u8",
    ("H", 2): "u16",
    ("I", 4): "u32",
    ("L", 4): "u32",
    ("i", 4): "i32",
    ("l", 4): "i32",
}

CONVERT = (
    f"flashmetal has {' '.join(DTYPES)}: convert with astype, e.g. array.astype('float32'), "
    "which copies"
)
SWAP_BYTES = (
    "its byte order is not this machine's: convert with "
    "array.astype(array.dtype.newbyteorder('=')), which copies, or swap in place with "
    "array.byteswap(inplace=True) and view the result in native order"
)
PICK_FIELD = (
    "a structured type has no kernel type: take one field and convert it with astype, "
    "e.g. array['field'].astype('float32')"
)
NO_BFLOAT16 = "NumPy has it through the package ml_dtypes: pip install ml_dtypes"


def name_of(dtype: DTypeLike) -> str:
    """Name the element type that a dtype argument means.

    Parameters
    ----------
    dtype
        One of the names f32, f16, bf16, u8, u16, u32, i32, or anything that `numpy.dtype` takes.
        Where the two differ ("u8", "f16"), it is flashmetal's name.

    Raises
    ------
    UnsupportedDtype
        No element type of this kind or byte order.
    """
    if isinstance(dtype, str) and dtype in DTYPES:
        return str(dtype)
    # NumPy reads None as float64.
    if dtype is None:
        raise UnsupportedDtype("None", CONVERT)
    try:
        found = np.dtype(dtype)
    except (TypeError, ValueError):
        raise UnsupportedDtype(str(dtype), CONVERT) from None
    if found.fields is not None:
        raise UnsupportedDtype(str(found), PICK_FIELD)
    if found.name not in NAME_OF_NUMPY:
        raise UnsupportedDtype(found.name, CONVERT)
    if not found.isnative:
        raise UnsupportedDtype(found.str, SWAP_BYTES)
    return NAME_OF_NUMPY[found.name]


def name_of_format(text: str, size: int) -> str:
    """Name the element type of a buffer-protocol format and its item size in bytes.

    Raises
    ------
    UnsupportedDtype
        No element type of this kind or byte order.
    """
    order, code = (text[0], text[1:]) if text[:1] in tuple("@=<>!") else ("@", text)
    if code.startswith("T{"):
        raise UnsupportedDtype(text, PICK_FIELD)
    name = NAME_OF_FORMAT.get((code, size))
    if name is None:
        raise UnsupportedDtype(text, CONVERT)
    if size > 1 and order not in ("@", "=", NATIVE_ORDER):
        raise UnsupportedDtype(text, SWAP_BYTES)
    return name


def name_of_dlpack(code: int, bits: int) -> str:
    """Name the element type of a DLPack code and its bits.

    Raises
    ------
    UnsupportedDtype
        No element type of this kind.
    """
    for dtype in DTYPES.values():
        if (dtype.dlpack, dtype.size * 8) == (code, bits):
            return dtype.name
    raise UnsupportedDtype(f"DLPack's type {code} of {bits} bits", CONVERT)


def numpy_dtype(name: str) -> np.dtype[Any]:
    """Give the NumPy dtype of an element type.

    Raises
    ------
    UnsupportedDtype
        bf16 without the package ml_dtypes.
    """
    if name != "bf16":
        return np.dtype(DTYPES[name].numpy_name)
    try:
        import ml_dtypes
    except ImportError:
        raise UnsupportedDtype(name, NO_BFLOAT16) from None
    return np.dtype(ml_dtypes.bfloat16)


def without_bfloat16(obj: object) -> tuple[object, bool]:
    """Give an object that can export its memory, in place of a bf16 array, which cannot.

    Returns
    -------
    exporter
        The array viewed as uint16, or `obj` itself.
    is_bfloat16
        Whether it was a bf16 array.
    """
    if not isinstance(obj, np.ndarray) or obj.dtype.kind != "V" or obj.dtype.fields is not None:
        return obj, False
    return (obj.view(np.uint16), True) if name_of(obj.dtype) == "bf16" else (obj, False)
