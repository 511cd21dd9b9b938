"""`flashmetal.bench.timing`: turns are interleaved, and what the loop costs is taken off."""

import itertools
import time

import pytest

from flashmetal.bench import timing
from flashmetal.bench.timing import Case, each_call, measure


def turns(*readings):
    return Case(iter(readings).__next__)


def test_least_is_of_all_readings_and_median_of_the_turns():
    found = measure({"case": turns([5.0, 1.0, 9.0], [3.0, 4.0, 5.0], [7.0])}, rounds=3)
    assert found["case"].least == 1.0
    assert found["case"].median == 5.0


def test_spread_lies_between_the_quartiles():
    found = measure({"case": turns(*[[float(n)] for n in range(1, 8)])}, rounds=7)
    assert found["case"].spread == 4.0  # 2 ... 6


def test_one_round_has_no_spread():
    assert measure({"case": turns([2.0])}, rounds=1)["case"] == (2.0, 2.0, 0.0)


def test_turns_go_forth_and_back():
    order = []
    cases = {name: Case(lambda name=name: order.append(name) or [1.0]) for name in "ab"}
    ticks = []
    measure(cases, rounds=3, tick=ticks.append)
    assert order == ticks == ["a", "b", "b", "a", "a", "b"]


def test_the_loop_is_taken_off_only_what_loops(monkeypatch):
    loops = itertools.cycle([0.5, 0.25])
    monkeypatch.setattr(timing, "_time_empty_loop", lambda: next(loops))
    cases = {
        "loop": Case(lambda: [1.0], loops_in_python=True),
        "call": Case(lambda: [1.0]),
    }
    found = measure(cases, rounds=2)
    assert found["loop"] == (0.75, 0.75, 0.0)
    assert found["call"] == (1.0, 1.0, 0.0)


def test_an_interrupted_reading_of_the_loop_counts_for_nothing(monkeypatch):
    loops = itertools.chain([9.0, 0.25], itertools.repeat(9.0))
    monkeypatch.setattr(timing, "_time_empty_loop", lambda: next(loops))
    case = Case(lambda: [1.0], loops_in_python=True)
    assert measure({"loop": case}, rounds=1)["loop"].least == 0.75


def test_empty_loop_costs_less_than_a_call():
    assert 0 < timing._time_empty_loop() < 1e-3


@pytest.mark.parametrize("seconds", [0, 0.02])
def test_each_call_leaves_the_first_out(seconds):
    calls = []

    def call():
        calls.append(None)
        time.sleep(0.002)

    readings = each_call(call, seconds)()
    assert len(readings) == len(calls) - 1 >= 1
    assert min(readings) >= 0.002
