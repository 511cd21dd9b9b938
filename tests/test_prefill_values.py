"""Prefill attention of inputs whose result is known, most of them exactly."""

import numpy as np
import pytest
from prefill_families import SIMDGROUP

from flashmetal.prefill_problems import PrefillProblem, PrefillShape, make_prefill_problem

HIDDEN = -np.inf
LEAST = np.finfo(np.float16).min


@pytest.fixture
def run(prefill):
    return prefill.run


@pytest.fixture
def head_dim(prefill):
    return prefill.head_dim


def problem_of(rows, kv_len, head_dim, q=0.0, k=0.0, heads=(1, 1)):
    """Constant q and k, rows of v that hold their own number, an open mask."""
    v = np.arange(kv_len, dtype=np.float16)[:, None, None]
    return PrefillProblem(
        np.full((rows, heads[0], head_dim), q, np.float32),
        np.full((kv_len, heads[1], head_dim), k, np.float16),
        np.broadcast_to(v, (kv_len, heads[1], head_dim)).copy(),
        np.zeros((rows, kv_len), np.float16),
    )


def assert_rows(out, values, **tolerance):
    """Every element of a row has the row's value."""
    expected = np.broadcast_to(np.reshape(values, (-1, 1, 1)), out.shape)
    if tolerance:
        np.testing.assert_allclose(out, expected, **tolerance)
    else:
        np.testing.assert_array_equal(out, expected)


# ---- masks ---------------------------------------------------------------------------------------


def test_a_row_that_sees_nothing_is_exactly_zero(run, head_dim):
    problem = problem_of(2, 64, head_dim)
    problem.mask[0] = HIDDEN
    assert_rows(run(problem), [0, 31.5])


@pytest.mark.parametrize("rows", [1, 15, 33])
def test_rows_that_see_nothing_anywhere_are_exactly_zero(run, head_dim, rows):
    problem = make_prefill_problem(PrefillShape(rows, 2, 1, head_dim, 130))
    problem.mask[...] = HIDDEN
    assert_rows(run(problem), np.zeros(rows))


def test_causal_rows_average_what_they_see(run, head_dim):
    problem = problem_of(8, 64, head_dim)
    problem.mask[...] = np.where(np.arange(64) > np.arange(8)[:, None], HIDDEN, 0)
    # On simdgroup_matrix the output is divided as vectors, which the relaxed mode may round again.
    tolerance = {"rtol": 1e-6} if run.family is SIMDGROUP else {}
    assert_rows(run(problem), np.arange(8) / 2, **tolerance)


def test_a_hidden_key_loses_to_any_score(run, head_dim):
    problem = problem_of(1, 2, head_dim)
    problem.q[..., 0] = -20000
    problem.k[0, :, 0] = 1
    problem.v[0], problem.v[1] = 1, 100
    problem.mask[0, 1] = HIDDEN
    assert_rows(run(problem, scale=1), [1])


@pytest.mark.parametrize("kv_len", [1, 63, 65, 100, 127])
def test_padding_weighs_nothing_beside_very_negative_scores(run, head_dim, kv_len):
    problem = problem_of(3, kv_len, head_dim, q=1, k=-20 / head_dim)
    problem.v[...] = 1
    assert_rows(run(problem, scale=1), [1, 1, 1])


def test_rows_may_see_their_first_key_late(run, head_dim):
    problem = problem_of(20, 320, head_dim)
    first = np.arange(20) * 16
    problem.mask[...] = np.where(np.arange(320) < first[:, None], HIDDEN, 0)
    assert_rows(run(problem), (first + 319) / 2, rtol=1e-6)


@pytest.mark.parametrize("column", [0, 63, 64, 150, 191])
def test_one_visible_key_returns_its_value_row(run, head_dim, column):
    problem = make_prefill_problem(PrefillShape(17, 2, 1, head_dim, 192))
    problem.mask[...] = HIDDEN
    problem.mask[:, column] = 0
    expected = np.broadcast_to(problem.v[column].astype(np.float32), problem.q.shape)
    np.testing.assert_array_equal(run(problem), expected)


def test_a_mask_of_the_least_f16_everywhere_hides_nothing(run, head_dim):
    problem = problem_of(2, 64, head_dim)
    problem.mask[0] = LEAST
    assert_rows(run(problem), [31.5, 31.5])


def test_the_least_f16_weighs_nothing_beside_an_open_key(run, head_dim):
    problem = problem_of(1, 64, head_dim)
    problem.mask[:, 1:] = LEAST
    problem.v[0] = 7
    assert_rows(run(problem), [7])


def test_finite_cells_shift_the_scores(run, head_dim):
    problem = problem_of(1, 2, head_dim)
    problem.mask[0, 1] = np.float16(np.log(3))
    weight = np.exp(np.float64(problem.mask[0, 1]))
    assert_rows(run(problem), [weight / (1 + weight)], rtol=3e-4)


# ---- scores --------------------------------------------------------------------------------------


def test_scores_beyond_the_range_of_f16_are_right(run, head_dim):
    problem = problem_of(1, 64, head_dim, q=16, k=64)
    assert_rows(run(problem, scale=1 / 512), [31.5])


def test_the_scale_comes_before_the_product(run, head_dim):
    problem = problem_of(1, 2, head_dim)
    problem.q[..., :128] = 30
    problem.k[..., :128] = 30
    problem.k[1, :, 0] = 29
    assert_rows(run(problem, scale=0.088), [0.066608], rtol=2e-2)


@pytest.mark.parametrize("q", [32.0, 32768.0])
def test_rows_of_very_negative_scores_are_not_zero(run, head_dim, q):
    problem = problem_of(2, 70, head_dim, q=q, k=-32)
    problem.v[...] = 1
    assert_rows(run(problem, scale=1), [1, 1])


@pytest.mark.parametrize("row", [0, 63, 64, 127, 128, 255])
def test_a_key_far_ahead_returns_its_value_row(run, head_dim, row):
    problem = make_prefill_problem(PrefillShape(18, 2, 1, head_dim, 256))
    problem.q[...] = abs(problem.q) + 1
    problem.k[row] = 256
    expected = np.broadcast_to(problem.v[row].astype(np.float32), problem.q.shape)
    np.testing.assert_array_equal(run(problem), expected)


def test_each_step_of_rising_scores_rescales(run, head_dim):
    """Peaks that rise by more than 8 at each step, until only the last step counts."""
    problem = problem_of(4, 256, head_dim)
    problem.q[..., 0] = 1
    problem.k[:, :, 0] = np.repeat([0, 20, 40, 60], 64)[:, None]
    assert_rows(run(problem, scale=1), np.full(4, 192 + 31.5), rtol=1e-5)


def test_peaks_that_rise_by_less_are_kept(run, head_dim):
    """The third step's peak is more than 8 above the first's, the others' are not."""
    problem = problem_of(3, 256, head_dim)
    problem.q[..., 0] = 1
    scores = np.repeat([0, 7, 14, 15], 64)
    problem.k[:, :, 0] = scores[:, None]
    weights = np.exp(scores - 15.0)
    expected = (weights * np.arange(256)).sum() / weights.sum()
    assert_rows(run(problem, scale=1), np.full(3, expected), rtol=2e-3)


def test_rows_rescale_one_by_one(run, head_dim):
    """Only row 5 needs it in the second step, only row 9 in the third."""
    problem = problem_of(12, 256, head_dim)
    problem.q[5, :, 0] = 1
    problem.q[9, :, 1] = 1
    problem.k[64:128, :, 0] = 30
    problem.k[128:192, :, 1] = 30
    expected = np.full(12, 127.5)
    expected[5], expected[9] = 95.5, 159.5
    assert_rows(run(problem, scale=1), expected, rtol=1e-6)


# ---- sums ----------------------------------------------------------------------------------------


@pytest.mark.parametrize("kv_len", [1, 2, 64, 256, 1024])
def test_equal_weights_of_a_power_of_two_average_exactly(run, head_dim, kv_len):
    problem = make_prefill_problem(PrefillShape(3, 2, 1, head_dim, kv_len))
    problem.q[...] = 0
    problem.v[...] = np.random.default_rng(kv_len).integers(-8, 9, problem.v.shape)
    expected = problem.v.astype(np.float64).mean(axis=0)
    np.testing.assert_array_equal(run(problem), np.broadcast_to(expected, problem.q.shape))


def test_sums_do_not_overflow_as_in_f16(run, head_dim):
    problem = problem_of(2, 320, head_dim)
    problem.v[...] = 60000
    assert_rows(run(problem), [60000, 60000], rtol=1e-6)


def test_long_sums_do_not_stall_as_in_f16(run, head_dim):
    problem = problem_of(1, 6400, head_dim)
    problem.v[...] = 2
    assert_rows(run(problem), [2], rtol=1e-6)


@pytest.mark.parametrize("kv_len", [1, 63, 65, 700])
def test_values_of_one_return_one(run, head_dim, kv_len):
    problem = make_prefill_problem(PrefillShape(33, 1, 1, head_dim, kv_len), mask="open")
    problem.v[...] = 1
    assert_rows(run(problem), np.ones(33), rtol=1e-6)


# ---- heads and rows ------------------------------------------------------------------------------


@pytest.mark.parametrize("heads", [(4, 4), (6, 2), (7, 1), (16, 1), (28, 4)])
def test_heads_of_a_group_read_their_kv_head(run, head_dim, heads):
    problem = problem_of(2, 5, head_dim, heads=heads)
    problem.v[...] = np.arange(heads[1])[:, None]
    group = heads[0] // heads[1]
    expected = np.arange(heads[0])[:, None] // group
    np.testing.assert_array_equal(run(problem), np.broadcast_to(expected, problem.q.shape))


def test_each_query_finds_its_own_key(run, head_dim):
    rows = 70
    problem = problem_of(rows, rows, head_dim, heads=(2, 1))
    problem.k[np.arange(rows), 0, np.arange(rows)] = 40
    for head in range(2):
        problem.q[np.arange(rows), head, (np.arange(rows) + head) % rows] = 1
    expected = (np.arange(rows)[:, None] + np.arange(2)) % rows
    out = run(problem, scale=1)
    np.testing.assert_array_equal(out, np.broadcast_to(expected[:, :, None], out.shape))


@pytest.mark.parametrize("mask", ["causal", "random"])
def test_rows_equal_calls_of_one_row(run, head_dim, mask):
    problem = make_prefill_problem(PrefillShape(18, 2, 1, head_dim, 130), mask=mask)
    alone = [
        PrefillProblem(problem.q[[row]], problem.k, problem.v, problem.mask[[row]])
        for row in range(18)
    ]
    outs = run.run([run.prepare(one) for one in (problem, *alone)])
    np.testing.assert_array_equal(outs[0], np.concatenate(outs[1:]))


def test_nan_that_is_read_is_seen(run, head_dim):
    problem = make_prefill_problem(PrefillShape(4, 1, 1, head_dim, 70))
    problem.q[0, 0, 0] = np.nan
    problem.mask[1, 65] = np.nan
    problem.v[3, 0, 1] = np.nan
    seen = np.isnan(run(problem)[:, 0])
    assert seen[:2].all()
    np.testing.assert_array_equal(np.flatnonzero(seen[2]), [1])


def test_queries_beyond_the_range_of_f16_become_infinite(run, head_dim):
    problem = problem_of(2, 2, head_dim)
    problem.q[:, :, 0] = [[65504], [70000]]
    problem.k[0, :, 0] = np.float16(0.001)
    problem.v[0], problem.v[1] = 1, 0
    out = run(problem, scale=1)
    assert_rows(out[:1], [1])
    assert np.isnan(out[1]).all()
