"""`flashmetal.bench.table`: figures stand under each other."""

import pytest

from flashmetal.bench import table


def test_columns_are_aligned():
    text = table.as_text(("name", "n"), [("a", "1"), ("longer", "200")])
    assert text.splitlines() == ["name      n", "a         1", "longer  200"]


def test_a_row_of_another_length_is_refused():
    with pytest.raises(ValueError, match="zip"):
        table.as_text(("name", "n"), [("a",)])


def test_each_name_that_is_left_out_has_a_line():
    text = table.left_out_text({"torch": "not installed: torch", "jax": "fails"})
    assert text == "left out: torch: not installed: torch\nleft out: jax: fails"


@pytest.mark.parametrize(
    ("seconds", "text"),
    [
        (0.0, "0 ns"),
        (4.15e-8, "41.5 ns"),
        (3e-10, "0.3 ns"),
        (-2e-9, "-2 ns"),
        (1.234e-5, "12.3 µs"),
        (0.0021, "2.1 ms"),
        (75.0, "75 s"),
    ],
)
def test_times_take_the_unit_that_fits(seconds, text):
    assert table.time_text(seconds) == text
