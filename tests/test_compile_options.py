"""CompileOptions: checked, hashable, equal where they mean the same."""

import numpy as np
import pytest

import flashmetal as fm
from flashmetal import CompileOptions


def test_defaults_are_those_of_shipped_shaders():
    options = CompileOptions()
    assert (options.language_version, options.math_mode, options.macros) == (None, "relaxed", ())
    assert options.packed_version == 0


def test_language_version_is_packed_for_metal():
    assert CompileOptions(language_version="3.1").packed_version == 3 << 16 | 1
    assert CompileOptions(language_version="4.0").packed_version == 4 << 16


def test_macros_are_sorted_texts():
    options = CompileOptions(macros={"B": True, "A": 3, "C": "float", "D": 0.5})
    assert options.macros == (("A", "3"), ("B", "1"), ("C", "float"), ("D", "0.5"))


def test_options_that_mean_the_same_are_equal():
    first = CompileOptions(macros={"A": 1, "B": 2})
    second = CompileOptions(macros={"B": "2", "A": "1"})
    assert first == second
    assert hash(first) == hash(second)
    assert first != CompileOptions(macros={"A": 1})


@pytest.mark.parametrize(
    ("fields", "text"),
    [
        ({"language_version": "3"}, 'language_version must be a text like "3.1" or None'),
        ({"language_version": "0.0"}, 'language_version must be a text like "3.1" or None'),
        ({"language_version": "٣.١"}, 'language_version must be a text like "3.1" or None'),
        ({"language_version": 3.1}, 'language_version must be a text like "3.1" or None'),
        ({"language_version": "metal3.1"}, 'language_version must be a text like "3.1" or None'),
        ({"math_mode": "quick"}, "math_mode must be one of safe, relaxed, fast, got 'quick'"),
        ({"math_mode": np.arange(2)}, "math_mode must be one of safe, relaxed, fast, got array"),
        ({"math_mode": None}, "math_mode must be one of safe, relaxed, fast, got None"),
        ({"macros": {"1A": 1}}, "a macro's name must be an identifier, got '1A'"),
        ({"macros": {"A B": 1}}, "a macro's name must be an identifier, got 'A B'"),
        ({"macros": {1: 1}}, "a macro's name must be an identifier, got 1"),
        ({"macros": {"A": None}}, "macro A must be a text or a number, got None"),
        ({"macros": {"A": "a\0b"}}, "macro A must be Unicode without NUL characters"),
        ({"macros": {"A": "\ud800"}}, "macro A must be Unicode without NUL characters"),
        ({"macros": {"A": "1\n#error"}}, "macro A must be one line, got '1\\n#error'"),
        ({"macros": {"A": float("inf")}}, "macro A must be finite, got inf"),
        ({"macros": 5}, "macros must map names to values, got 5"),
    ],
)
def test_fields_of_another_form_are_refused(fields, text):
    with pytest.raises(fm.errors.InvalidArgument) as caught:
        CompileOptions(**fields)
    assert str(caught.value).startswith(f"Invalid argument: CompileOptions: {text}")
