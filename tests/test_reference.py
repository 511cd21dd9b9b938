"""The judge itself: float64 attention, its bound, and comparisons that NaN cannot pass."""

import math

import numpy as np
import pytest

from flashmetal.problems import KINDS, DecodeShape, make_problem
from flashmetal.reference import Reference, compare, decode_reference, default_scale

SHAPE = DecodeShape(6, 2, 8, 40)


def softmax_by_hand(q, k, v, scale):
    scores = [scale * sum(float(a) * float(b) for a, b in zip(q, row, strict=True)) for row in k]
    weights = [math.exp(score - max(scores)) for score in scores]
    return np.array(weights) @ v.astype(np.float64) / sum(weights)


@pytest.mark.parametrize("kind", KINDS)
def test_agrees_with_attention_written_out(kind):
    problem = make_problem(SHAPE, kind)
    output = decode_reference(problem.q, problem.k, problem.v).output
    for head, row in enumerate(output):
        kv_head = head // 3
        keys, values = problem.k[:, kv_head], problem.v[:, kv_head]
        expected = softmax_by_hand(problem.q[head], keys, values, default_scale(8))
        np.testing.assert_allclose(row, expected, rtol=1e-9, atol=1e-9 * abs(values).max())


def test_bound_of_equal_weights_is_the_formula():
    problem = make_problem(SHAPE)
    problem.q[:] = 0
    problem.v[:] = -3
    bound = decode_reference(problem.q, problem.k, problem.v).bound
    expected = 2.0**-24 * (8 * math.sqrt(SHAPE.seq_len) + 64) * 3
    np.testing.assert_allclose(bound, expected, rtol=1e-12)


def test_bound_grows_with_the_scores():
    problem = make_problem(SHAPE)
    small = decode_reference(problem.q, problem.k, problem.v, scale=0.5).bound
    large = decode_reference(problem.q, problem.k, problem.v, scale=50).bound
    assert large.mean() > 2 * small.mean()


def test_length_0_is_zeros():
    problem = make_problem(SHAPE._replace(seq_len=0))
    assert not decode_reference(problem.q, problem.k, problem.v).output.any()


@pytest.mark.parametrize("kind", KINDS)
def test_problems_are_the_same_for_the_same_seed(kind):
    first, again, other = (make_problem(SHAPE, kind, seed) for seed in (0, 0, 1))
    np.testing.assert_array_equal(first.v, again.v)
    assert (first.v != other.v).any()


@pytest.mark.parametrize("kind", KINDS)
def test_problems_are_finite(kind):
    problem = make_problem(SHAPE, kind)
    assert all(np.isfinite(array).all() for array in (problem.q, problem.k, problem.v))


def reference_of(output):
    output = np.array(output, np.float64)
    return Reference(output, np.full(output.shape, 1e-6))


def test_exact_result_has_no_error():
    accuracy = compare(np.ones((2, 4), np.float32), reference_of(np.ones((2, 4))))
    assert (accuracy.nmse, accuracy.row_nmse, accuracy.ratio) == (0, 0, 0)
    assert accuracy.within_bound
    assert accuracy.within_nmse_limits


def test_one_wrong_row_shows_in_the_row_measure():
    actual = np.ones((4, 4), np.float32)
    actual[2] = 1.5
    accuracy = compare(actual, reference_of(np.ones((4, 4))))
    assert accuracy.nmse == 0.0625
    assert accuracy.row_nmse == 0.25
    assert accuracy.ratio == pytest.approx(0.5e6)


@pytest.mark.parametrize("actual", [[np.nan, 1], [np.inf, 1], [-np.inf, np.nan]])
def test_nan_and_infinity_do_not_pass(actual):
    accuracy = compare(np.array([actual], np.float32), reference_of([[1, 1]]))
    assert not accuracy.within_bound
    assert not accuracy.within_nmse_limits


def test_nan_that_is_expected_passes_and_its_absence_does_not():
    reference = reference_of([[np.nan, 1]])
    assert compare(np.array([[np.nan, 1]], np.float32), reference).within_bound
    assert not compare(np.array([[0, 1]], np.float32), reference).within_bound


def test_shapes_must_agree():
    with pytest.raises(ValueError, match=r"shape \(1, 2\), its reference \(2, 2\)"):
        compare(np.ones((1, 2), np.float32), reference_of(np.ones((2, 2))))


@pytest.mark.parametrize("seq_len", [513, 4096])
def test_one_dropped_key_is_out_of_bounds(seq_len):
    problem = make_problem(SHAPE._replace(seq_len=seq_len))
    whole = decode_reference(problem.q, problem.k, problem.v)
    dropped = decode_reference(problem.q, problem.k[:-1], problem.v[:-1])
    assert not compare(dropped.output, whole).within_bound


def test_queries_rounded_to_f16_are_out_of_limits():
    problem = make_problem(DecodeShape(6, 2, 64, 1000))
    rounded = decode_reference(problem.q.astype(np.float16), problem.k, problem.v)
    accuracy = compare(rounded.output, decode_reference(problem.q, problem.k, problem.v))
    assert not accuracy.within_nmse_limits
