"""`flashmetal verify`: passes on the shipped kernels, and sees kernels that are broken."""

import io

import pytest

import flashmetal as fm
from flashmetal import resources, verify
from flashmetal.ops.flash_attention import kernel_name
from flashmetal.problems import KINDS, DecodeShape
from flashmetal.reference import Accuracy

CASES = [
    verify.Case(DecodeShape(6, 2, head_dim, seq_len), kind)
    for head_dim in (48, 64, 128)
    for seq_len in (1, 300)
    for kind in ("normal", "rising")
]

# What is broken, in the kernel's text, and what it is replaced by.
MUTANTS = {
    "drops the last key": (
        "const uint seq_len = params.seq_len;",
        "const uint seq_len = params.seq_len - 1;",
    ),
    "forgets to rescale": ("output = output * correction", "output = output"),
    "reads the neighbouring head": (
        "v_cache += ulong(kv_head) * head_dim;",
        "v_cache += ulong(kv_head ^ 1) * head_dim;",
    ),
    "scale off by 0.1 %": ("score = scale *", "score = 1.001f * scale *"),
    "query through f16": ("= q[thread_index];", "= float(half(q[thread_index]));"),
    "output through f16": (
        "out[thread_index] = sum / total(simdgroup_results);",
        "out[thread_index] = float(half(sum / total(simdgroup_results)));",
    ),
}


@pytest.fixture
def engines():
    return verify.engines_of()


def register_text(text):
    names = {kernel_name(head_dim) for head_dim in (4, 64, 128)}

    def register(registry):
        for name in names:
            registry.register_source(name, text)

    return register


def test_shipped_kernels_pass_on_every_engine(engines):
    reports = verify.verify(engines, CASES)
    assert [report.engine for report in reports] == list(engines)
    for report in reports:
        assert report.failures == []
        assert report.cases == len(CASES)
        assert 0 < report.nmse <= report.row_nmse
        assert 0 < report.ratio <= 1


@pytest.mark.parametrize("mutant", MUTANTS)
def test_broken_kernels_fail(mutant, monkeypatch):
    engines = {"auto": fm.Device()}
    text = resources.shader("flash_attention").read_text(encoding="utf-8")
    before, after = MUTANTS[mutant]
    assert before in text
    monkeypatch.setattr(verify, "register", register_text(text.replace(before, after)))
    for report in verify.verify(engines, CASES):
        assert report.failures


def test_a_result_that_is_nan_is_a_failure():
    report = verify.EngineReport("simt", "device")
    report.add(CASES[0], Accuracy(nmse=float("inf"), row_nmse=float("inf"), ratio=float("inf")))
    assert len(report.failures) == 1
    assert report.as_dict()["ratio"] is None


def test_mean_errors_of_hostile_inputs_are_not_judged():
    report = verify.EngineReport("simt", "device")
    report.add(verify.Case(CASES[0].shape, "cancelling"), Accuracy(1e-6, 1e-6, 0.5))
    assert report.failures == []
    assert report.nmse == 0


@pytest.mark.parametrize("quick", [False, True])
def test_grid_has_every_kind_and_the_lengths_around_a_tile(quick):
    cases = verify.decode_cases(quick)
    assert len(set(cases)) == len(cases)
    assert {case.kind for case in cases} == set(KINDS)
    assert {0, 1, 256, 257} <= {case.shape.seq_len for case in cases}
    assert {64, 80, 128} <= {case.shape.head_dim for case in cases}


def test_full_grid_has_every_head_dim():
    head_dims = {case.shape.head_dim for case in verify.decode_cases()}
    assert head_dims == set(range(4, 129, 4))


class Terminal(io.StringIO):
    def isatty(self):
        return True


def test_progress_is_drawn_on_a_terminal_and_removed(engines):
    terminal = Terminal()
    verify.verify(engines, CASES[:2], progress=terminal)
    assert f"{2 * len(engines)}/{2 * len(engines)}" in terminal.getvalue()
    assert terminal.getvalue().endswith("\r\033[K")


def test_progress_fits_a_narrow_terminal(engines, monkeypatch):
    monkeypatch.setenv("COLUMNS", "20")
    terminal = Terminal()
    verify.verify(engines, CASES[:2], progress=terminal)
    assert all(len(line) < 20 for line in terminal.getvalue().split("\r"))


def test_progress_is_not_written_to_a_file(engines):
    stream = io.StringIO()
    verify.verify(engines, CASES[:1], progress=stream)
    assert stream.getvalue() == ""


def test_table_shows_measures_limits_and_failures():
    report = verify.EngineReport("simt", "device")
    report.add(CASES[0], Accuracy(nmse=1e-3, row_nmse=1e-3, ratio=7.0))
    text = verify.as_text([report])
    assert "1.0e-10" in text
    assert "simt: normal: n_heads 6, n_kv_heads 2, head_dim 48, seq_len 1: NMSE 0.001" in text


def test_engines_are_those_that_the_device_has(engines):
    assert "simt" in engines or not fm.Device().is_host
    assert all(device.engine in ("", name) for name, device in engines.items())


def test_unknown_engine_is_refused():
    with pytest.raises(fm.errors.InvalidArgument, match="engine must be one of"):
        verify.engines_of("gpu")
