"""`flashmetal bench`: its forms of output, and what it refuses before it measures."""

import json
import subprocess
import sys

import pytest

from flashmetal import cli
from flashmetal.bench import dispatch
from flashmetal.bench.dispatch import hot_path

DISPATCH = ["bench", "dispatch", "--rounds", "1"]


def test_the_package_does_not_import_the_benchmarks():
    program = "import sys, flashmetal; print([name for name in sys.modules if 'bench' in name])"
    printed = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=True
    )
    assert printed.stdout == "[]\n"


def test_dispatch_as_json(capsys):
    assert cli.main([*DISPATCH, "--json"]) == 0
    figures = json.loads(capsys.readouterr().out)
    assert set(figures) == {"machine", "timings", "goals"}
    assert len(figures["goals"]) == len(hot_path.GOALS)
    assert all(timing["least"] <= timing["median"] for timing in figures["timings"].values())
    for goal in figures["goals"]:
        assert goal["ratio"] > 0


def test_dispatch_as_a_table(capsys):
    assert cli.main(DISPATCH) == 0
    captured = capsys.readouterr()
    for goal in hot_path.GOALS:
        assert str(goal) in captured.out
    assert captured.err == ""


def test_dispatch_as_a_plot(tmp_path, capsys):
    pytest.importorskip("matplotlib", reason="--plot needs it")
    path = tmp_path / "figures.svg"
    assert cli.main([*DISPATCH, "--plot", str(path)]) == 0
    assert path.stat().st_size > 0


def test_a_wrong_plot_is_refused_before_anything_is_measured(tmp_path, monkeypatch, capsys):
    monkeypatch.setattr(dispatch, "run", lambda *_: pytest.fail("measured"))
    assert cli.main([*DISPATCH, "--plot", str(tmp_path / "figures.pdf")]) == cli.STATUS_REFUSED
    assert "must end in .svg or .html" in capsys.readouterr().err


@pytest.mark.parametrize("rounds", ["0", "-1", "1.5", "many"])
def test_rounds_must_be_a_whole_number_above_0(rounds, capsys):
    with pytest.raises(SystemExit):
        cli.main(["bench", "dispatch", f"--rounds={rounds}"])
    assert f"'{rounds}' is not a whole number above 0" in capsys.readouterr().err
