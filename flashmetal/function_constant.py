"""FunctionConstant: one of a text's function constants, and Python values as its type has them."""

from __future__ import annotations

import operator
import struct
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np

from .errors import InvalidArgument, InvalidType

__all__ = ["SCALARS", "ConstantTable", "FunctionConstant"]

# MSL's scalars in the order of the C ABI's fm_constant_type, and how struct packs each.
SCALARS = {
    "bool": "?",
    "char": "b",
    "uchar": "B",
    "short": "h",
    "ushort": "H",
    "int": "i",
    "uint": "I",
    "long": "q",
    "ulong": "Q",
    "half": "e",
    "float": "f",
}
Refusal: TypeAlias = type[InvalidArgument]  # FunctionConstant has a type of its own
LARGEST = {"half": 65504.0, "float": float(np.finfo(np.float32).max)}


@dataclass(frozen=True)
class FunctionConstant:
    """A function constant as MSL declares it.

    Attributes
    ----------
    index : int
        Of ``[[function_constant(index)]]``.
    type : str
        As MSL spells it, e.g. "bool", "float" or "uchar4"; "?" for one that has no values here.
    name : str
        In the text.
    """

    index: int
    type: str
    name: str

    def __str__(self) -> str:
        return f"'{self.name}' (index {self.index}, {self.type})"

    @property
    def scalar(self) -> str:
        """The type of a component."""
        return self.type.rstrip("234")

    @property
    def components(self) -> int:
        """1 unless it is a vector."""
        return int(self.type[len(self.scalar) :] or 1)

    def pack(self, value: Any, subject: str) -> bytes:
        """Return the value as it lies in memory; three components as four.

        Parameters
        ----------
        value
            bool, int, float, a NumPy scalar, or as many of them as the vector has components.
        subject
            Of an error's text.

        Raises
        ------
        InvalidType
            When it is of another class than the type takes.
        InvalidArgument
            When the type cannot hold it.
        """
        if self.scalar not in SCALARS:
            raise InvalidArgument(f"{subject}: function constant {self} has a type without values")
        values = [value] if self.components == 1 else self._components_of(value, subject)
        converted = [self._convert(one, subject) for one in values]
        return struct.pack(self._layout, *converted)

    def unpack(self, memory: bytes) -> Any:
        """Return what `pack` was given, as Python's own numbers; a vector as a tuple."""
        values = struct.unpack(self._layout, memory)
        return values[0] if self.components == 1 else values

    @property
    def _layout(self) -> str:
        letter = SCALARS[self.scalar]
        spare = f"{struct.calcsize('=' + letter)}x" if self.components == 3 else ""
        return f"={self.components}{letter}{spare}"

    def _components_of(self, value: Any, subject: str) -> list[Any]:
        is_list = isinstance(value, Sequence | np.ndarray) and not isinstance(value, str | bytes)
        if is_list and np.ndim(value) == 1 and len(value) == self.components:
            return list(value)
        raise self._refuse(InvalidType, f"{self.components} numbers", value, subject)

    def _convert(self, value: Any, subject: str) -> bool | int | float:
        if isinstance(value, np.ndarray) and value.ndim == 0:
            value = value[()]
        if isinstance(value, np.bool_):
            value = bool(value)
        if self.scalar in LARGEST:
            return self._to_float(value, subject)
        return self._to_integer(value, subject)

    def _to_float(self, value: Any, subject: str) -> float:
        # Texts and arrays have a float(), too, and complex numbers one that drops a part.
        is_number = hasattr(value, "__float__") or hasattr(value, "__index__")
        if not is_number or isinstance(value, np.ndarray | np.complexfloating):
            raise self._refuse(InvalidType, "a number", value, subject)
        try:
            number = float(value)
            struct.pack("=" + SCALARS[self.scalar], number)
        except OverflowError:
            limit = f"a number from {-LARGEST[self.scalar]:g} to {LARGEST[self.scalar]:g}"
            raise self._refuse(InvalidArgument, limit, value, subject) from None
        return number

    def _to_integer(self, value: Any, subject: str) -> int:
        low, high = self._range()
        wanted = "True or False" if high == 1 else f"an integer from {low} to {high}"
        try:
            number = operator.index(value)
        except TypeError:
            raise self._refuse(InvalidType, wanted, value, subject) from None
        if not low <= number <= high:
            raise self._refuse(InvalidArgument, wanted, value, subject)
        return number

    def _range(self) -> tuple[int, int]:
        if self.scalar == "bool":
            return 0, 1
        bits = 8 * struct.calcsize("=" + SCALARS[self.scalar])
        is_signed = self.scalar[0] != "u"
        return -(2 ** (bits - 1)) if is_signed else 0, 2 ** (bits - is_signed) - 1

    def _refuse(self, error: Refusal, wanted: str, value: Any, subject: str) -> InvalidArgument:
        return error(f"{subject}: function constant {self} must be {wanted}, got {value!r}")


class ConstantTable:
    """The function constants of a text, by index and by name."""

    def __init__(self, lines: str, *, whole: bool) -> None:
        """Read them from what the bridge prints: a line each, of index, type and name.

        `whole`: of all kernels of the text, not only of one.
        """
        self.whole = whole
        entries = [line.split(" ", 2) for line in lines.splitlines()]
        found = {FunctionConstant(int(index), kind, name): None for index, kind, name in entries}
        self.constants = sorted(found, key=lambda constant: (constant.index, constant.name))
        self.places: dict[int | str, FunctionConstant] = {}
        for constant in self.constants:
            self.places.setdefault(constant.index, constant)
            self.places.setdefault(constant.name, constant)

    def covers(self, keys: Iterable[int | str]) -> bool:
        """Whether it says of each of these what it is, or that there is none."""
        return self.whole or all(key in self.places for key in keys)

    def pack(
        self, pairs: Iterable[tuple[int | str, Any]], subject: str
    ) -> tuple[tuple[FunctionConstant, bytes], ...]:
        """Return constants with their values, in the order of the indices.

        Parameters
        ----------
        pairs
            Indices or names, and values.
        subject
            Of an error's text.

        Raises
        ------
        InvalidArgument
            When there is no such constant, one is given twice, or the value is not for it.
        """
        packed: dict[int, tuple[FunctionConstant, bytes]] = {}
        for key, value in pairs:
            constant = self.places.get(key)
            if constant is None:
                raise InvalidArgument(f"{subject}: no function constant {key!r}: {self._listed()}")
            if constant.index in packed:
                raise InvalidArgument(f"{subject}: function constant {constant} is given twice")
            packed[constant.index] = constant, constant.pack(value, subject)
        return tuple(packed[index] for index in sorted(packed))

    def _listed(self) -> str:
        if not self.constants:
            return "the text declares none"
        return f"the text declares {', '.join(map(str, self.constants))}"
