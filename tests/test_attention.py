"""fm.attention: arrays in, array out, or an error that says what to do."""

import threading
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest

import flashmetal as fm
from flashmetal.problems import DecodeShape, make_problem
from flashmetal.reference import compare, decode_reference

pytestmark = pytest.mark.keeps_objects


def arrays_of(*shape, seed=0):
    problem = make_problem(DecodeShape(*shape), seed=seed)
    return problem.q, problem.k, problem.v


def assert_accurate(out, q, k, v, scale=None):
    accuracy = compare(out, decode_reference(q, k, v, scale))
    assert accuracy.within_bound, accuracy
    assert accuracy.within_nmse_limits, accuracy


# ---- results -------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "shape", [(1, 1, 4, 1), (9, 3, 64, 300), (8, 8, 128, 257), (6, 2, 80, 1000), (14, 2, 36, 33)]
)
def test_one_query_row_is_served(shape):
    q, k, v = arrays_of(*shape)
    out = fm.attention(q, k, v)
    assert (out.dtype, out.shape) == (np.float32, q.shape)
    assert_accurate(out, q, k, v)


def test_a_row_axis_is_kept():
    q, k, v = arrays_of(4, 2, 64, 20)
    out = fm.attention(q[None], k, v)
    assert out.shape == (1, 4, 64)
    assert_accurate(out[0], q, k, v)


def test_causal_row_sees_all_keys():
    q, k, v = arrays_of(4, 2, 64, 20)
    assert np.array_equal(fm.attention(q, k, v, causal=True), fm.attention(q, k, v))


@pytest.mark.parametrize("scale", [0.5, np.float32(0.1), 0])
def test_scale_is_used(scale):
    q, k, v = arrays_of(4, 2, 64, 20)
    assert_accurate(fm.attention(q, k, v, scale=scale), q, k, v, float(np.float32(scale)))


def test_no_keys_give_zeros():
    q, k, v = arrays_of(4, 2, 64, 0)
    out = fm.attention(q, k, v)
    assert out.shape == (4, 64)
    assert not out.any()


def test_arrays_of_any_layout_are_copied():
    q, k, v = arrays_of(4, 2, 64, 20)
    wide = np.zeros((4, 128), np.float32)
    wide[:, ::2] = q
    layouts = [np.asfortranarray(k), k[::-1][::-1], np.ascontiguousarray(k.transpose(2, 0, 1))]
    expected = fm.attention(q, k, v)
    for layout in (layouts[0], layouts[1], layouts[2].transpose(1, 2, 0)):
        assert np.array_equal(fm.attention(wide[:, ::2], layout, v), expected)


def test_inputs_are_left_alone_and_the_result_is_the_callers():
    q, k, v = arrays_of(4, 2, 64, 20)
    copies = q.copy(), k.copy(), v.copy()
    first = fm.attention(q, k, v)
    kept = first.copy()
    fm.attention(2 * q, k, v)
    assert np.array_equal(first, kept)
    assert all(map(np.array_equal, (q, k, v), copies))


def test_what_an_earlier_call_left_in_the_pool_does_not_matter():
    q, k, v = arrays_of(4, 2, 64, 20)
    expected = fm.attention(q, k, v)
    fm.attention(q, np.full_like(k, np.nan), np.full_like(v, np.inf))
    assert np.array_equal(fm.attention(q, k, v), expected)


def test_device_may_be_given():
    q, k, v = arrays_of(4, 2, 64, 20)
    out = fm.attention(q, k, v, device=fm.Device(threads=1))
    assert np.array_equal(out, fm.attention(q, k, v))


def test_threads_share_the_default_device():
    problems = [arrays_of(4, 2, 64, 20 + index, seed=index) for index in range(8)]
    barrier = threading.Barrier(8)

    def run(problem):
        barrier.wait()
        return [fm.attention(*problem) for _ in range(10)]

    with ThreadPoolExecutor(8) as pool:
        for problem, outs in zip(problems, pool.map(run, problems), strict=True):
            for out in outs:
                assert_accurate(out, *problem)


def test_repeated_calls_allocate_nothing(host):
    q, k, v = arrays_of(4, 2, 64, 20)
    fm.attention(q, k, v)
    before = host.live_objects("HMBuffer")
    for _ in range(20):
        fm.attention(q, k, v)
    assert host.live_objects("HMBuffer") == before


def test_failed_call_leaves_the_next_one_right(host):
    q, k, v = arrays_of(4, 2, 64, 20)
    expected = fm.attention(q, k, v)
    host.set_faults("exec:code=8")
    with pytest.raises(fm.errors.CommandBufferError) as caught:
        fm.attention(q, k, v)
    assert caught.value.label == "attention"
    assert np.array_equal(fm.attention(q, k, v), expected)


# ---- refusals ------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("name", "dtype", "text"),
    [
        ("q", "float64", "float64; attention: q must be float32, which q.astype('float32') makes"),
        ("q", "float16", "float16; attention: q must be float32, which q.astype('float32') makes"),
        ("k", "float32", "float32; attention: k must be float16, which k.astype('float16') makes"),
        ("v", "int8", "int8; attention: v must be float16, which v.astype('float16') makes"),
        ("k", ">f2", ">f2; attention: k must be float16, which k.astype('float16') makes"),
    ],
)
def test_other_dtypes_are_refused_with_the_conversion(name, dtype, text):
    arrays = dict(zip("qkv", arrays_of(4, 2, 64, 20), strict=True))
    arrays[name] = arrays[name].astype(dtype)
    with pytest.raises(fm.errors.UnsupportedDtype) as caught:
        fm.attention(**arrays)
    assert str(caught.value) == f"Unsupported dtype: {text}"


@pytest.mark.parametrize(
    ("q", "k", "v", "text"),
    [
        ((64,), (5, 2, 64), (5, 2, 64), "q must be [n_heads, head_dim] or [rows, n_heads, head_"),
        ((4, 64), (5, 64), (5, 64), "k must be [n, n_kv_heads, head_dim], got (5, 64)"),
        ((4, 64), (5, 2, 64), (6, 2, 64), "v must have k's shape (5, 2, 64), got (6, 2, 64)"),
        ((4, 64), (5, 2, 32), (5, 2, 32), "head_dim is 64 in q and 32 in k"),
        ((0, 64), (5, 2, 64), (5, 2, 64), "empty shape: q (0, 64), k (5, 2, 64)"),
        ((4, 0), (5, 2, 0), (5, 2, 0), "empty shape: q (4, 0), k (5, 2, 0)"),
        ((4, 64), (5, 0, 64), (5, 0, 64), "empty shape: q (4, 64), k (5, 0, 64)"),
        ((4, 64), (5, 3, 64), (5, 3, 64), "n_heads 4 is not a multiple of n_kv_heads 3"),
    ],
)
def test_shapes_that_do_not_fit_are_refused(q, k, v, text):
    with pytest.raises(fm.errors.InvalidArgument) as caught:
        fm.attention(np.zeros(q, "f4"), np.zeros(k, "f2"), np.zeros(v, "f2"))
    assert str(caught.value).startswith(f"Invalid argument: attention: {text}")


@pytest.mark.parametrize("window", [1, 7, 20, 100])
def test_a_window_leaves_out_earlier_keys(window):
    q, k, v = arrays_of(4, 2, 64, 20)
    out = fm.attention(q, k, v, causal=True, window=window)
    assert np.array_equal(out, fm.attention(q, k[-window:], v[-window:]))


def test_no_rows_give_an_empty_array():
    q, k, v = arrays_of(4, 2, 64, 20)
    assert fm.attention(q[None][:0], k, v).shape == (0, 4, 64)


def test_scale_that_is_no_number_is_refused():
    with pytest.raises(fm.errors.InvalidArgument, match="scale must be a finite f32"):
        fm.attention(*arrays_of(4, 2, 64, 20), scale=float("nan"))


def test_ragged_lists_are_refused_by_name():
    k = np.ones((5, 1, 2), np.float16)
    with pytest.raises(fm.errors.InvalidArgument, match="attention: q must be an array"):
        fm.attention([[1.0], [1.0, 2.0]], k, k)
