"""`flashmetal bench`: its forms of output, and what it refuses before it measures."""

import json
import re
import subprocess
import sys
from xml.etree import ElementTree

import pytest

from flashmetal import cli
from flashmetal.bench import dispatch
from flashmetal.bench.dispatch import goals
from flashmetal.bench.queues.ours import MODES

# fm.attention keeps buffers for its next call.
pytestmark = pytest.mark.keeps_objects

DISPATCH = [
    *("bench", "dispatch", "--rounds=1", "--peers=ctypes", "--dispatches=1,8", "--in-flight=1,2")
]


def test_the_package_does_not_import_the_benchmarks():
    program = "import sys, flashmetal; print([name for name in sys.modules if 'bench' in name])"
    printed = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=True
    )
    assert printed.stdout == "[]\n"


def test_dispatch_as_json(capsys):
    assert cli.main([*DISPATCH, "--json"]) == 0
    figures = json.loads(capsys.readouterr().out)
    keys = {"machine", "timings", "stages", "lines", "depths", "goals", "left_out"}
    assert set(figures) == keys
    assert all(timing["least"] <= timing["median"] for timing in figures["timings"].values())
    ours_and_twin = {f"{kind}, {mode}" for kind in ("C twin", "plans", "step") for mode in MODES}
    assert set(figures["lines"]) == set(figures["depths"]) == ours_and_twin
    for line in figures["lines"].values():
        assert set(line) == {"alpha", "beta", "error", "dispatches"}
        assert set(line["dispatches"]) == {"1", "8"}
    assert all(set(depths) == {"1", "2"} for depths in figures["depths"].values())
    for stage in ("bind", "encode", "commit", "wait, spin", "round trip, block"):
        assert {"flashmetal", "C twin"} <= set(figures["stages"][stage])
    assert len(figures["goals"]) == len(goals.GOALS)
    assert figures["left_out"] == {}


def test_goals_without_their_peers_are_open(capsys):
    assert cli.main([*DISPATCH, "--json"]) == 0
    ratios = {goal["peer"]: goal["ratio"] for goal in json.loads(capsys.readouterr().out)["goals"]}
    assert ratios["ctypes"] > 0
    assert ratios["PoCL enqueue + finish"] is None


def test_dispatch_as_a_table(capsys):
    assert cli.main(DISPATCH) == 0
    captured = capsys.readouterr()
    for goal in goals.GOALS:
        assert str(goal) in captured.out
    assert captured.err == ""


@pytest.mark.parametrize("suffix", ["svg", "html"])
def test_dispatch_as_a_plot(tmp_path, capsys, suffix):
    pytest.importorskip("matplotlib", reason="--plot needs it")
    path = tmp_path / f"figures.{suffix}"
    assert cli.main([*DISPATCH, "--plot", str(path)]) == 0
    text = path.read_text(encoding="utf-8")
    image = ElementTree.fromstring(text[text.index("<svg") : text.index("</svg>") + len("</svg>")])
    assert image.tag.endswith("svg")
    # Nothing is fetched: what is referred to lies in the file.
    assert set(re.findall(r'(?:src|href)="([^"]*)"', text)) == set(
        re.findall(r'href="(#[^"]*)"', text)
    )


def test_a_wrong_plot_is_refused_before_anything_is_measured(tmp_path, monkeypatch, capsys):
    monkeypatch.setattr(dispatch, "run", lambda *_: pytest.fail("measured"))
    assert cli.main([*DISPATCH, "--plot", str(tmp_path / "figures.pdf")]) == cli.STATUS_REFUSED
    assert "must end in .svg or .html" in capsys.readouterr().err


@pytest.mark.parametrize("rounds", ["0", "-1", "1.5", "many"])
def test_rounds_must_be_a_whole_number_above_0(rounds, capsys):
    with pytest.raises(SystemExit):
        cli.main(["bench", "dispatch", f"--rounds={rounds}"])
    assert f"'{rounds}' is not a whole number above 0" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("flag", "text"),
    [
        ("--dispatches=8", "a line goes through two numbers at least"),
        ("--dispatches=8,8", "a line goes through two numbers at least"),
        ("--in-flight=1,17", "16 at most"),
    ],
)
def test_wrong_numbers_are_refused_before_anything_is_measured(flag, text, monkeypatch, capsys):
    monkeypatch.setattr(dispatch.scenario, "run", lambda *_: pytest.fail("measured"))
    assert cli.main([*DISPATCH, flag]) == cli.STATUS_REFUSED
    assert text in capsys.readouterr().err


def test_unknown_peers_are_refused(capsys):
    with pytest.raises(SystemExit):
        cli.main([*DISPATCH, "--peers=ctypes,nobody"])
    assert "'nobody' is none of ctypes, cffi, pybind11, nanobind, pocl" in capsys.readouterr().err
