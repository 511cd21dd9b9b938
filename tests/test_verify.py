"""`flashmetal verify`: passes on the shipped kernels, and sees kernels that are broken."""

import io

import numpy as np
import pytest
from prefill_model import rounded_prefill

import flashmetal as fm
from flashmetal import resources, verify, verify_cases
from flashmetal.ops import flash_attn_prefill_simdgroup, flash_attn_prefill_tensor
from flashmetal.ops.flash_attention import kernel_name
from flashmetal.prefill_problems import MASKS, PrefillShape, make_prefill_problem
from flashmetal.problems import KINDS, DecodeShape
from flashmetal.reference import (
    FEW_ROWS_LIMITS,
    PREFILL_LIMITS,
    Accuracy,
    compare,
    prefill_reference,
)
from flashmetal.verify_cases import DecodeCase, PrefillCase

DECODE = [
    DecodeCase(DecodeShape(6, 2, head_dim, seq_len), kind)
    for head_dim in (48, 64, 128)
    for seq_len in (1, 300)
    for kind in ("normal", "rising")
]
TENSOR, SIMDGROUP = flash_attn_prefill_tensor.OP, flash_attn_prefill_simdgroup.OP


def prefill_cases(operation, head_dims):
    return [
        PrefillCase(operation, PrefillShape(rows, 4, 2, head_dim, kv_len), kind, mask)
        for head_dim in head_dims
        for rows, kv_len in ((33, 100), (20, 256))
        for kind, mask in (("normal", "causal"), ("rising", "random"), ("large logits", "late"))
    ]


PREFILL = {
    TENSOR: prefill_cases(TENSOR, (256, 512)),
    SIMDGROUP: prefill_cases(SIMDGROUP, (64, 100)),
}
CASES = [*DECODE, *PREFILL[TENSOR], *PREFILL[SIMDGROUP]]

# What is broken, in the kernel's text, and what it is replaced by.
DECODE_MUTANTS = {
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
SHARED_MUTANTS = {
    "forgets the mask": ("tile_class == MIXED && row < rows", "false"),
    "reads the neighbouring head": (
        "v += long(kv_head) *",
        "v += long(kv_head ^ 1) *",
    ),
    "drops the last keys": ("params.kv_pad / KEYS", "params.kv_pad / KEYS - 1"),
}
PREFILL_MUTANTS = {
    TENSOR: {
        **SHARED_MUTANTS,
        "forgets to rescale the sum": ("weight_sum[i] * factor", "weight_sum[i]"),
        "forgets to rescale the output": ("output[i] *= shared->factors", "output[i] *= 1.0f; //"),
    },
    SIMDGROUP: {
        **SHARED_MUTANTS,
        "forgets to rescale the sum": ("weight_sum * factor", "weight_sum"),
        "forgets to rescale the output": (
            "own_scores, lane) *= quad_factor",
            "own_scores, lane) *= 1.0f",
        ),
        "takes a tail for whole": ("head_dim % SIDE != 0", "false"),
        "skips a block of the head": ("blocks = whole_blocks +", "blocks = whole_blocks - 1 +"),
    },
}
PREFILL_KERNELS = {
    TENSOR: (
        flash_attn_prefill_tensor.K_TENSOR_F16_D256,
        flash_attn_prefill_tensor.K_TENSOR_F16_D512,
    ),
    SIMDGROUP: flash_attn_prefill_simdgroup.KERNELS,
}


@pytest.fixture
def engines():
    return verify.engines_of()


def use_text(monkeypatch, operation, names, text, options):
    """Let verify register another text under the operation's names."""
    shipped = verify_cases.OPERATIONS[operation]

    def register(registry):
        shipped.register(registry)
        for name in names:
            registry.register_source(name, text, options=options)

    broken = shipped._replace(register=register)
    monkeypatch.setitem(verify_cases.OPERATIONS, operation, broken)


def test_shipped_kernels_pass_on_every_engine(engines):
    reports = verify.verify(engines, CASES)
    assert [(report.engine, report.operation) for report in reports] == [
        (engine, operation) for engine in engines for operation in verify_cases.OPERATIONS
    ]
    for report in reports:
        assert report.lacks is None
        assert report.failures == []
        assert report.cases == sum(case.operation == report.operation for case in CASES)
        assert 0 < report.nmse <= report.row_nmse
        assert 0 < report.ratio <= 1


@pytest.mark.parametrize("mutant", DECODE_MUTANTS)
def test_broken_decode_kernels_fail(mutant, monkeypatch):
    engines = {"auto": fm.Device()}
    text = resources.shader("flash_attention").read_text(encoding="utf-8")
    before, after = DECODE_MUTANTS[mutant]
    assert before in text
    names = {kernel_name(head_dim) for head_dim in (4, 64, 128)}
    use_text(monkeypatch, DecodeCase.operation, names, text.replace(before, after), None)
    for report in verify.verify(engines, DECODE):
        assert report.failures


@pytest.mark.parametrize(
    ("operation", "mutant"),
    [
        pytest.param(operation, mutant, marks=[pytest.mark.slow] * ("simdgroup" in operation))
        for operation, mutants in PREFILL_MUTANTS.items()
        for mutant in mutants
    ],
)
def test_broken_prefill_kernels_fail(operation, mutant, monkeypatch):
    engines = {"auto": fm.Device()}
    text = resources.shader(operation).read_text(encoding="utf-8")
    before, after = PREFILL_MUTANTS[operation][mutant]
    assert before in text
    options = fm.CompileOptions(language_version="4.0")
    names = PREFILL_KERNELS[operation]
    use_text(monkeypatch, operation, names, text.replace(before, after), options)
    for report in verify.verify(engines, PREFILL[operation]):
        assert report.failures


def test_what_a_device_lacks_is_told_and_no_failure():
    device = fm.Device(tensor_api=False)
    cases = [DECODE[0], *PREFILL[TENSOR], PREFILL[SIMDGROUP][0]]
    reports = verify.verify({"simt": device}, cases)
    assert [(report.lacks, report.cases) for report in reports] == [
        (None, 1),
        ("Metal's tensor API", 0),
        (None, 1),
    ]
    assert not any(report.failures for report in reports)
    text = verify.as_text(reports)
    assert "simt: no flash_attn_prefill_tensor: lacks Metal's tensor API" in text
    assert sum(line.startswith("simt ") for line in text.splitlines()) == 2


def decode_report():
    return verify.Report("simt", "device", DecodeCase.operation)


def test_a_result_that_is_nan_is_a_failure():
    report = decode_report()
    report.add(CASES[0], Accuracy(nmse=float("inf"), row_nmse=float("inf"), ratio=float("inf")))
    assert len(report.failures) == 1
    assert report.as_dict()["ratio"] is None


def test_mean_errors_of_hostile_inputs_are_not_judged():
    report = decode_report()
    report.add(DecodeCase(CASES[0].shape, "cancelling"), Accuracy(1e-6, 1e-6, 0.5))
    assert report.failures == []
    assert report.nmse == 0


def test_mean_errors_beside_the_least_f16_are_not_judged():
    report = verify.Report("simt", "device", TENSOR)
    shape = PrefillShape(33, 1, 1, 256, 64)
    report.add(
        PrefillCase(TENSOR, shape, "normal", "finite"), Accuracy(1e-3, 1e-3, 0.5, PREFILL_LIMITS)
    )
    assert report.failures == []
    report.add(
        PrefillCase(TENSOR, shape, "normal", "open"), Accuracy(1e-3, 1e-3, 0.5, PREFILL_LIMITS)
    )
    assert len(report.failures) == 1


@pytest.mark.parametrize("quick", [False, True])
def test_grid_has_every_kind_mask_and_the_lengths_around_a_tile(quick):
    cases = verify_cases.grid(quick)
    assert len(set(cases)) == len(cases)
    decode = [case for case in cases if case.operation == DecodeCase.operation]
    assert {case.kind for case in decode} == set(KINDS)
    assert {0, 1, 256, 257} <= {case.shape.seq_len for case in decode}
    assert {64, 80, 128} <= {case.shape.head_dim for case in decode}
    for operation, head_dims in ((TENSOR, (256, 512)), (SIMDGROUP, (64, 80, 96, 100, 128, 256))):
        prefill = [case for case in cases if case.operation == operation]
        assert {case.kind for case in prefill} == set(KINDS)
        for head_dim in head_dims:
            masks = {case.mask for case in prefill if case.shape.head_dim == head_dim}
            assert masks == set(MASKS)


def test_full_grid_has_every_head_dim():
    served = {
        DecodeCase.operation: range(4, 129, 4),
        TENSOR: (256, 512),
        SIMDGROUP: range(4, 257, 4),
    }
    for operation, head_dims in served.items():
        cases = [case for case in verify_cases.grid() if case.operation == operation]
        assert {case.shape.head_dim for case in cases} == set(head_dims)


def test_rows_of_a_narrow_head_have_a_limit_of_their_own():
    def limits_of(rows):
        k = np.ones((2, 1, 4), "f2")
        return prefill_reference(np.ones((rows, 1, 4), "f4"), k, k, np.zeros((rows, 2))).limits

    limits = limits_of(128)
    # P(F > x) < 3 / x² for the ratio F of two squares of four numbers: 1e-5 at √3e5.
    assert limits == (PREFILL_LIMITS.nmse, pytest.approx(2e-7 * 3e5**0.5))
    assert limits_of(127) == limits._replace(nmse=FEW_ROWS_LIMITS.nmse)
    report = verify.Report("simt", "device", SIMDGROUP)
    case = PrefillCase(SIMDGROUP, PrefillShape(128, 1, 1, 4, 2), "normal", "open")
    report.add(case, Accuracy(1e-7, 1e-5, 0.5, limits))
    assert (report.failures, report.nmse, report.row_nmse) == ([], 1e-7, 0)


@pytest.mark.parametrize(("head_dim", "above"), [(4, True), (8, True), (16, True), (64, False)])
def test_limit_of_narrow_rows_is_no_wider_than_rounding_takes(head_dim, above):
    """The kernel's roundings, and nothing else wrong, of 20,000 rows."""
    shape = PrefillShape(2000, 10, 10, head_dim, 64)
    problem = make_prefill_problem(shape)
    reference = prefill_reference(problem.q, problem.k, problem.v, problem.mask)
    accuracy = compare(rounded_prefill(problem), reference)
    assert (accuracy.row_nmse > PREFILL_LIMITS.row_nmse) == above
    assert reference.limits.row_nmse / 20 < accuracy.row_nmse < reference.limits.row_nmse


class Terminal(io.StringIO):
    def isatty(self):
        return True


def test_progress_is_drawn_on_a_terminal_and_removed(engines):
    terminal = Terminal()
    verify.verify(engines, DECODE[:2], progress=terminal)
    assert f"{2 * len(engines)}/{2 * len(engines)}" in terminal.getvalue()
    assert terminal.getvalue().endswith("\r\033[K")


def test_progress_fits_a_narrow_terminal(engines, monkeypatch):
    monkeypatch.setenv("COLUMNS", "20")
    terminal = Terminal()
    verify.verify(engines, CASES[:2], progress=terminal)
    assert all(len(line) < 20 for line in terminal.getvalue().split("\r"))


def test_progress_is_not_written_to_a_file(engines):
    stream = io.StringIO()
    verify.verify(engines, DECODE[:1], progress=stream)
    assert stream.getvalue() == ""


def test_table_shows_measures_limits_and_failures():
    report = decode_report()
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
