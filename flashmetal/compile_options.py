"""CompileOptions: how MSL source is compiled."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping
from dataclasses import dataclass, field

from ._text import to_utf8
from .errors import InvalidArgument

__all__ = ["MATH_MODES", "CompileOptions"]

# In the order of the C ABI's fm_math_mode.
MATH_MODES = ("safe", "relaxed", "fast")


@dataclass(frozen=True)
class CompileOptions:
    """How MSL source is compiled; hashable, and part of every cache key.

    Parameters
    ----------
    language_version
        Of MSL, e.g. ``"3.1"``; Metal's default when None.
    math_mode
        ``"safe"`` follows IEEE 754, ``"relaxed"`` may reorder but keeps infinities and NaN,
        ``"fast"`` assumes that there are none.
    macros
        Names and values that the preprocessor defines. Kept as sorted pairs of strings.

    Raises
    ------
    InvalidArgument
        When a field has none of these forms.
    """

    language_version: str | None = None
    math_mode: str = "relaxed"
    macros: Mapping[str, str | int | float] | tuple[tuple[str, str], ...] = field(
        default_factory=dict
    )

    def __post_init__(self) -> None:
        version = self.language_version
        if version is not None and not _is_version(version):
            raise _invalid(f'language_version must be a text like "3.1" or None, got {version!r}')
        # An array would compare itself element by element.
        if not isinstance(self.math_mode, str) or self.math_mode not in MATH_MODES:
            raise _invalid(
                f"math_mode must be one of {', '.join(MATH_MODES)}, got {self.math_mode!r}"
            )
        object.__setattr__(self, "macros", _sorted_macros(self.macros))

    @property
    def packed_version(self) -> int:
        """The language version as major << 16 | minor; 0 for Metal's default."""
        if self.language_version is None:
            return 0
        major, minor = self.language_version.split(".")
        return int(major) << 16 | int(minor)


def _invalid(problem: str) -> InvalidArgument:
    return InvalidArgument(f"CompileOptions: {problem}")


def _is_version(version: str) -> bool:
    if not isinstance(version, str):
        return False
    return re.fullmatch(r"[1-9]\d{0,2}\.\d{1,3}", version, re.ASCII) is not None


def _sorted_macros(
    macros: Mapping[str, str | int | float] | tuple[tuple[str, str], ...],
) -> tuple[tuple[str, str], ...]:
    try:
        pairs = dict(macros).items()
    except (TypeError, ValueError):
        raise _invalid(f"macros must map names to values, got {macros!r}") from None
    return tuple(sorted((_macro_name(name), _macro_value(name, value)) for name, value in pairs))


def _macro_name(name: str) -> str:
    if not isinstance(name, str) or not re.fullmatch(r"[A-Za-z_]\w*", name, re.ASCII):
        raise _invalid(f"a macro's name must be an identifier, got {name!r}")
    return name


def _macro_value(name: str, value: str | int | float) -> str:
    if isinstance(value, bool):
        return str(int(value))
    if not isinstance(value, str | int | float):
        raise _invalid(f"macro {name} must be a text or a number, got {value!r}")
    text = str(value)
    to_utf8(text, f"CompileOptions: macro {name}")
    if isinstance(value, float) and not math.isfinite(value):
        raise _invalid(f'macro {name} must be finite, got {value!r}; "INFINITY" is MSL\'s')
    if "\n" in text or "\r" in text:
        raise _invalid(f"macro {name} must be one line, got {value!r}")
    return text
