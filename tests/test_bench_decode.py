"""`flashmetal bench decode`: its figures, its forms of output, and what it refuses."""

import json
import sys
import types

import numpy as np
import pytest

from flashmetal import _host, cli
from flashmetal.bench import decode, machine, peers
from flashmetal.bench.decode import comparison
from flashmetal.bench.decode.figures import Figures, SizeFigures
from flashmetal.bench.rows import Row
from flashmetal.bench.timing import Timing
from flashmetal.problems import DecodeShape

TINY = [
    "bench", "decode", "--heads=4", "--kv-heads=2", "--head-dim=8,64", "--keys=33",
    "--peers=numpy_matmul", "--rounds=1",
]  # fmt: skip


@pytest.fixture(autouse=True)
def same_process(monkeypatch):
    monkeypatch.setattr(machine, "hold_threads", lambda threads: None)
    monkeypatch.setattr(comparison, "TURN_SECONDS", 1e-4)


def figures_of(capsys, *arguments):
    assert cli.main([*TINY, "--json", *arguments]) == 0
    return json.loads(capsys.readouterr().out)


@pytest.mark.parametrize("threads", [1, 2])
def test_as_json(threads, capsys):
    figures = figures_of(capsys, f"--threads={threads}")
    assert set(figures) == {"machine", "threads", "sizes", "left_out"}
    assert (figures["threads"], figures["left_out"]) == (threads, {})
    assert [size["shape"]["head_dim"] for size in figures["sizes"]] == [8, 64]
    for size in figures["sizes"]:
        names = [(row["name"], row["dtype"]) for row in size["rows"]]
        ours = [("flashmetal", "f16"), ("flashmetal, 1 thread", "f16")][:threads]
        assert names == [*ours, ("numpy", "f32"), ("numpy", "f16")]
        assert size["cache_bytes"] == 2 * 33 * 2 * size["shape"]["head_dim"] * 2
        for row in size["rows"]:
            assert 0 < row["least"] <= row["median"]
            assert row["gb_per_second"] > 0
            assert row["nmse"] < 1e-10
        assert len(size["limits"]) == (2 * threads if _host.available() else 0)
        assert all(ratio["value"] > 0 for ratio in size["ratios"])


def test_as_a_table(capsys):
    assert cli.main(TINY) == 0
    captured = capsys.readouterr()
    assert "4 q / 2 kv heads, head_dim 8, 33 keys" in captured.out
    assert "time of the fastest peer / ours" in captured.out
    assert captured.err == ""


@pytest.mark.parametrize("suffix", ["svg", "html"])
def test_as_a_plot(suffix, tmp_path, capsys):
    pytest.importorskip("matplotlib", reason="--plot needs it")
    path = tmp_path / f"figures.{suffix}"
    assert cli.main([*TINY, "--plot", str(path)]) == 0
    text = path.read_text(encoding="utf-8")
    assert text.count("<svg") == 1
    assert "Decode, head_dim 64, 1 thread" in text


def test_ratios_are_of_minima_and_have_goals_where_the_machine_allows_them():
    def timing(least):
        return Timing(least, 2 * least, 0.0)

    rows = [
        Row("flashmetal", "f16", timing(2.0), 0.0),
        Row("flashmetal, 1 thread", "f16", timing(3.0), 0.0),
        Row("slow", "f16", timing(20.0), 0.0),
        Row("fast", "f32", timing(5.0), 0.0),
    ]
    limits = {
        "reads": timing(1.0),
        "reads, 1 thread": timing(1.5),
        "multiply-adds": timing(0.5),
        "multiply-adds, 1 thread": timing(1.0),
    }
    size = SizeFigures(DecodeShape(8, 2, 64, 1 << 20), rows, limits)
    assert [tuple(ratio) for ratio in size.ratios()] == [
        ("time of the fastest f16 peer / ours", 10.0, 3.0),
        ("time of the fastest peer / ours", 2.5, 2.0),
        ("nearness to the limit (reads)", 0.5, 0.75),
        ("time of one thread / ours", 1.5, None),
        ("the same of the limits", 1.5, None),
    ]
    # 2 · 2^20 rows · 2 kv heads · 64 · 2 bytes in two seconds
    assert size.rate(rows[0]) == pytest.approx(0.268435456)
    assert "3.00" in Figures(2, [size], {}).as_text()


def test_peers_that_are_missing_or_fail_are_left_out(monkeypatch):
    fails = types.ModuleType("flashmetal.bench.peers.fails")
    fails.calls = lambda: iter([peers.Call("fails", "f32", lambda: 1 / 0, np.zeros)])
    monkeypatch.setitem(sys.modules, fails.__name__, fails)
    calls, left_out = peers.gather(["fails", "nowhere"], "calls")
    assert calls == []
    assert left_out == {
        "fails": "ZeroDivisionError: division by zero",
        "nowhere": "not installed: flashmetal.bench.peers.nowhere",
    }


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        ("--head-dim=130", "requires head_dim"),
        ("--head-dim=64,6", "requires head_dim"),
        ("--heads=5", "n_heads 5 is not a multiple of n_kv_heads 2"),
        ("--threads=5000", "threads"),
    ],
)
def test_what_the_engine_does_not_serve_is_refused_before_anything_is_measured(
    wrong, message, monkeypatch, capsys
):
    monkeypatch.setattr(decode.comparison, "run", lambda *_: pytest.fail("measured"))
    assert cli.main([*TINY, wrong]) == cli.STATUS_REFUSED
    assert message in capsys.readouterr().err


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        ("--keys=0", "'0' is not a whole number above 0"),
        ("--keys=12,x", "'x' is not a whole number above 0"),
        ("--peers=torch", "'torch' is none of numpy_matmul"),
    ],
)
def test_bad_flags(wrong, message, capsys):
    with pytest.raises(SystemExit):
        cli.main([*TINY, wrong])
    assert message in capsys.readouterr().err
