"""`flashmetal bench prefill`: its figures, its forms of output, and what it refuses."""

import json

import numpy as np
import pytest

from flashmetal import _host, cli
from flashmetal.bench import machine, prefill
from flashmetal.bench.peers import gather
from flashmetal.bench.peers.layout import product_operands
from flashmetal.bench.prefill import comparison
from flashmetal.bench.prefill.figures import Figures, SizeFigures
from flashmetal.bench.prefill.masks import MASKS, make_masked_problem
from flashmetal.bench.rows import Row
from flashmetal.bench.timing import Timing
from flashmetal.prefill_problems import PrefillShape
from flashmetal.problems import DecodeShape, make_problem
from flashmetal.reference import compare, decode_reference, default_scale, prefill_reference

TINY = [
    "bench", "prefill", "--heads=4", "--kv-heads=2", "--head-dim=100,256", "--rows=3,33",
    "--keys=70", "--peers=numpy_matmul", "--rounds=1",
]  # fmt: skip


@pytest.fixture(autouse=True)
def same_process(monkeypatch):
    monkeypatch.setattr(machine, "hold_threads", lambda threads: None)
    monkeypatch.setattr(comparison, "TURN_SECONDS", 1e-4)


def figures_of(capsys, *arguments):
    assert cli.main([*TINY, "--json", *arguments]) == 0
    return json.loads(capsys.readouterr().out)


@pytest.mark.parametrize(("mask", "threads"), [("dense", 1), ("causal", 2), ("open", 1)])
def test_as_json(mask, threads, capsys):
    figures = figures_of(capsys, f"--mask={mask}", f"--threads={threads}")
    assert set(figures) == {"machine", "threads", "mask", "sizes", "left_out"}
    assert (figures["threads"], figures["mask"], figures["left_out"]) == (threads, mask, {})
    shapes = [(size["shape"]["head_dim"], size["shape"]["rows"]) for size in figures["sizes"]]
    assert shapes == [(100, 3), (100, 33), (256, 3), (256, 33)]
    for size in figures["sizes"]:
        names = [(row["name"], row["dtype"]) for row in size["rows"]]
        ours = ["flashmetal"]
        if threads > 1:
            ours.append("flashmetal, 1 thread")
        if mask == "causal":
            ours.append("flashmetal, dense mask")
        peers = [("numpy", "f32"), ("numpy", "f16")]
        assert names == [*((name, "f16") for name in ours), *peers]
        assert size["operations"] == 4 * size["shape"]["rows"] * 4 * 70 * size["shape"]["head_dim"]
        for row in size["rows"]:
            assert 0 < row["least"] <= row["median"]
            assert row["gflop_per_second"] > 0
            assert row["nmse"] < (4e-7 if row["name"].startswith("flashmetal") else 1e-10)
        limits = ["multiply-adds"] if _host.available() else []
        assert list(size["others"]) == ["sgemm numpy", *limits]
        assert all(ratio["value"] > 0 for ratio in size["ratios"])


def test_as_a_table(capsys):
    assert cli.main(TINY) == 0
    captured = capsys.readouterr()
    assert "4 q / 2 kv heads, head_dim 100, 33 rows, 70 keys, dense mask" in captured.out
    assert "time of the fastest sgemm / ours" in captured.out
    assert captured.err == ""


def test_as_a_plot(tmp_path, capsys):
    pytest.importorskip("matplotlib", reason="--plot needs it")
    path = tmp_path / "figures.html"
    assert cli.main([*TINY, "--plot", str(path)]) == 0
    assert "head_dim 256, 33 rows" in path.read_text(encoding="utf-8")


def timing(least):
    return Timing(least, 2 * least, 0.0)


def size_of(shape, mask, ours, **others):
    rows = [
        *(Row(name, "f16", timing(least), 0.0) for name, least in ours.items()),
        Row("slow", "f32", timing(8.0), 0.0),
        Row("fast", "f16", timing(4.0), 0.0),
        Row("coarse", "bf16", timing(1.0), 0.0),
    ]
    named = {name.replace("_", " "): timing(least) for name, least in others.items()}
    return SizeFigures(shape, mask, rows, named)


def test_ratios_are_of_minima_and_name_the_goals():
    shape = PrefillShape(512, 8, 2, 256, 1024)
    ours = {"flashmetal": 2.0, "flashmetal, 1 thread": 3.0}
    size = size_of(shape, "dense", ours, sgemm_numpy=6.0, sgemm_torch=5.0)
    assert [tuple(ratio) for ratio in size.ratios()] == [
        ("time of the fastest f32 or f16 peer / ours", 2.0, 1.0),
        ("time of the fastest bf16 peer / ours", 0.5, 1.0),
        ("time of the fastest sgemm / ours", 2.5, 0.9),
        ("time of one thread / ours", 1.5, None),
    ]
    # 4 · 512 rows · 8 heads · 1024 keys · 256 in two seconds
    assert size.rate(size.rows[0].timing) == pytest.approx(2.147483648)
    assert "2.50" in Figures(2, [size], {}, "dense").as_text()


@pytest.mark.parametrize(("rows", "goal"), [(1024, 1.7), (512, None)])
def test_a_causal_mask_is_held_against_a_dense_one_where_it_hides_half(rows, goal):
    shape = PrefillShape(rows, 8, 2, 256, 1024)
    ours = {"flashmetal": 2.0, "flashmetal, dense mask": 3.5}
    ratios = size_of(shape, "causal", ours, sgemm_numpy=4.0).ratios()
    assert ratios[2] == ("time of the fastest sgemm / ours", 2.0, None)
    assert ratios[3] == ("time of a dense mask / ours", 1.75, goal)


@pytest.mark.parametrize("mask", MASKS)
def test_peers_compute_the_masked_problem(mask):
    problem = make_masked_problem(PrefillShape(5, 6, 2, 20, 33), mask)
    assert (problem.mask != 0).all() == (mask == "dense")
    calls, left_out = gather(["numpy_matmul"], "attention_calls", problem, default_scale(20), 1)
    reference = prefill_reference(problem.q, problem.k, problem.v, problem.mask)
    assert [compare(call.result(), reference).nmse < 1e-10 for call in calls] == [True, True]
    assert left_out == {}


def test_peers_compute_decode_problems_alike():
    problem = make_problem(DecodeShape(6, 2, 20, 33))
    calls, _ = gather(["numpy_matmul"], "attention_calls", problem, default_scale(20), 1)
    reference = decode_reference(problem.q, problem.k, problem.v)
    assert [compare(call.result(), reference).nmse < 1e-10 for call in calls] == [True, True]


def test_products_have_distinct_operands():
    operands = product_operands(PrefillShape(3, 4, 2, 8, 10))
    assert [array.shape for array in operands[0]] == [
        (6, 8), (10, 8), (6, 10), (6, 10), (10, 8), (6, 8),
    ]  # fmt: skip
    drawn = [array for q, k, _, weights, v, _ in operands for array in (q, k, weights, v)]
    assert len({array.tobytes() for array in drawn}) == 8
    calls, left_out = gather(["numpy_matmul"], "product_calls", operands, 1)
    assert left_out == {}
    for q, k, scores, weights, v, out in operands:
        np.testing.assert_allclose(scores, q @ k.T, rtol=1e-5, atol=1e-5)
        np.testing.assert_allclose(out, weights @ v, rtol=1e-5, atol=1e-5)
    assert calls[0].result().shape == (12, 8)


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        ("--head-dim=260", "unsupported head_dim 260"),
        ("--head-dim=64,6", "unsupported head_dim 6"),
        ("--heads=5", "n_heads 5 is not a multiple of n_kv_heads 2"),
        ("--threads=5000", "threads"),
    ],
)
def test_what_the_engine_does_not_serve_is_refused_before_anything_is_measured(
    wrong, message, monkeypatch, capsys
):
    monkeypatch.setattr(prefill.comparison, "run", lambda *_: pytest.fail("measured"))
    assert cli.main([*TINY, wrong]) == cli.STATUS_REFUSED
    assert message in capsys.readouterr().err


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        ("--keys=0", "'0' is not a whole number above 0"),
        ("--mask=round", "invalid choice: 'round'"),
        ("--peers=torch", "'torch' is none of numpy_matmul"),
    ],
)
def test_bad_flags(wrong, message, capsys):
    with pytest.raises(SystemExit):
        cli.main([*TINY, wrong])
    assert message in capsys.readouterr().err
