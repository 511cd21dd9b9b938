"""The mask of an attention call: checked, and written as the kernels read it."""

from __future__ import annotations

import operator
from typing import Any, SupportsIndex

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ._checks import need_flag
from .errors import InvalidArgument, InvalidType, UnsupportedDtype

__all__ = ["F16_MAX", "Mask"]

F16_MAX = float(np.finfo(np.float16).max)

FLOATS = ("float16", "float32", "float64")


class Mask:
    """Which keys a query row sees, and what is added to their scores.

    Parameters
    ----------
    op
        The operation, for errors.
    array
        What the caller gave, or None.
    causal
        Whether a row sees its own key and earlier ones only; the last row's is the last key.
    window
        Keys that a causal row sees at most, its own included; all when None.
    rows, keys
        The sizes.

    Raises
    ------
    UnsupportedDtype
        When the array is neither of bool nor of a float type.
    InvalidArgument
        When its shape or a value does not fit, or the window is no positive integer or not causal.
    """

    def __init__(
        self,
        op: str,
        array: ArrayLike | None,
        causal: bool,
        window: SupportsIndex | None,
        rows: int,
        keys: int,
    ) -> None:
        self._rows = rows
        self._keys = keys
        self._causal = need_flag(op, "causal", causal)
        self._window = None if window is None else _check_window(op, window, self._causal)
        self._array = None if array is None else _check_array(op, array, (rows, keys))

    @property
    def first_key(self) -> int:
        """The first key that any row may see."""
        return max(0, self._first_seen(0))

    @property
    def has_cells(self) -> bool:
        """Whether the mask differs between the keys from `first_key` on."""
        return self._array is not None or (self._causal and self._rows > 1)

    def fill(self, cells: NDArray[np.float16]) -> None:
        """Write the additive mask of the keys from `first_key` on, ``[rows, keys]``."""
        first = self.first_key
        if self._array is None:
            cells[...] = 0
        else:
            _fill_from(cells, self._array[:, first:])
        if not self._causal:
            return
        for row in range(self._rows):
            cells[row, : max(0, self._first_seen(row) - first)] = -np.inf
            cells[row, max(0, self._own_key(row) + 1 - first) :] = -np.inf

    def _own_key(self, row: int) -> int:
        return self._keys - self._rows + row

    def _first_seen(self, row: int) -> int:
        return 0 if self._window is None else self._own_key(row) + 1 - self._window


def _check_window(op: str, window: SupportsIndex, causal: bool) -> int:
    error = InvalidArgument
    try:
        size = operator.index(window)
    except TypeError:
        size, error = 0, InvalidType
    if size < 1:
        raise error(f"{op}: window must be an integer from 1 on, got {window!r}")
    if not causal:
        raise InvalidArgument(f"{op}: window counts keys back from a row's own: pass causal=True")
    return size


def _check_array(op: str, value: ArrayLike, shape: tuple[int, int]) -> NDArray[Any]:
    try:
        array = np.asarray(value)
    except ValueError as error:
        raise InvalidArgument(f"{op}: mask must be an array: {error}") from error
    is_float = array.dtype.name in FLOATS and array.dtype.isnative
    if array.dtype != np.bool_ and not is_float:
        raise UnsupportedDtype(
            array.dtype.name if array.dtype.isnative else array.dtype.str,
            f"{op}: mask must be bool, true where a row sees a key, or float16, float32 or "
            "float64, added to the scores: mask.astype(bool) or mask.astype('float32') makes them",
        )
    try:
        array = np.broadcast_to(array, shape)
    except ValueError:
        raise InvalidArgument(
            f"{op}: mask must be [rows, keys] = {list(shape)} or broadcast to it, got "
            f"{list(array.shape)}; all heads share it"
        ) from None
    if is_float and (array > F16_MAX).any():
        raise InvalidArgument(
            f"{op}: mask has {array.max():g}: the kernel takes float16, up to {F16_MAX:g}"
        )
    return array


def _fill_from(cells: NDArray[np.float16], array: NDArray[Any]) -> None:
    if array.dtype == np.bool_:
        cells[...] = np.where(array, np.float16(0), np.float16(-np.inf))
        return
    with np.errstate(over="ignore", under="ignore"):
        cells[...] = array
    cells[array < -F16_MAX] = -np.inf
