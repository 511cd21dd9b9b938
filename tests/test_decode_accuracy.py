"""Decode attention against float64: shapes, hostile values, exact identities, cache edges."""

import itertools
import mmap

import numpy as np
import pytest
from decode_runner import DecodeRunner
from engines import ENGINES

import flashmetal as fm
from flashmetal import _host, verify, verify_cases
from flashmetal.ops.flash_attention import FlashAttentionParams, kernel_name
from flashmetal.problems import DecodeProblem, DecodeShape, make_problem

HEAD_DIMS = range(4, 129, 4)
# Widths with one to four dims a lane, whole and ragged at the head's end.
SOME_HEAD_DIMS = (4, 32, 36, 64, 68, 76, 80, 96, 100, 128)
SPECIALISED = {head_dim: kernel_name(head_dim) for head_dim in (64, 128)}


@pytest.fixture(scope="module", params=ENGINES)
def run(request):
    return DecodeRunner(fm.Device(engine=request.param))


def constant_problem(shape, q, k, v):
    kv_shape = (shape.seq_len, shape.n_kv_heads, shape.head_dim)
    return DecodeProblem(
        np.full((shape.n_heads, shape.head_dim), q, np.float32),
        np.full(kv_shape, k, np.float16),
        np.full(kv_shape, v, np.float16),
    )


# ---- shapes --------------------------------------------------------------------------------------


@pytest.mark.slow
@pytest.mark.timeout(300)
def test_every_case_of_verify(run):
    """All widths, group sizes, lengths, entry points and hostile values: what `verify` reports."""
    cases = [case for case in verify_cases.grid() if isinstance(case, verify_cases.DecodeCase)]
    assert len(cases) >= 2400
    (report,) = verify.verify({run.device.engine: run.device}, cases)
    assert report.cases == len(cases)
    assert report.failures == []
    assert report.nmse <= 1e-10


@pytest.mark.parametrize("head_dim", SPECIALISED)
def test_specialised_entry_points_ignore_the_head_dim_word(run, head_dim):
    problem = make_problem(DecodeShape(4, 2, head_dim, 300))
    expected = run(problem)
    params = bytearray(FlashAttentionParams(**problem.shape._asdict()).pack())
    params[8:12] = (4).to_bytes(4, "little")
    out = run.buffer(np.full_like(problem.q, np.nan))
    buffers = (run.buffer(problem.q), run.buffer(problem.k), run.buffer(problem.v), out)
    with run.device.encoder() as encoder:
        run.dispatch(encoder, SPECIALISED[head_dim], buffers, bytes(params))
    np.testing.assert_array_equal(np.asarray(out), expected)


@pytest.mark.parametrize("scale", [1.0, 0.0, -0.5, 3.25])
def test_scale_other_than_the_default(run, scale):
    problem = make_problem(DecodeShape(6, 2, 48, 300))
    assert run.accuracy(problem, scale=scale).within_bound


@pytest.mark.parametrize("seq_len", [65535, 65536, 65537])
def test_no_step_at_16_bits_of_length(run, seq_len):
    problem = constant_problem(DecodeShape(1, 1, 64, seq_len), 1, 0, 0)
    problem.k[-1] = 3.75
    problem.v[-1] = 1
    np.testing.assert_allclose(run(problem), 1, rtol=1e-6)


# ---- hostile values ------------------------------------------------------------------------------


@pytest.mark.parametrize("q", [32.0, 32768.0])
def test_rows_of_very_negative_scores_are_not_zero(run, q):
    problem = constant_problem(DecodeShape(2, 1, 64, 8), q, -32, 1)
    np.testing.assert_array_equal(run(problem, scale=1), 1)


def test_long_sums_do_not_stall_as_in_f16(run):
    problem = constant_problem(DecodeShape(1, 1, 128, 40000), 0, 1, 2)
    np.testing.assert_allclose(run(problem), 2, rtol=1e-5)


@pytest.mark.parametrize("head_dim", [4, 20, 36, 68, 100, 124])
def test_the_last_dims_of_a_head_count(run, head_dim):
    problem = constant_problem(DecodeShape(1, 1, head_dim, 40), 0, 0, 0)
    problem.q[0, -4:] = 1
    problem.k[5, 0, -4:] = 5
    problem.v[:] = np.arange(40)[:, None, None]
    np.testing.assert_allclose(run(problem, scale=1), 5.000001, rtol=1e-6)


def test_minus_infinite_scores_weigh_nothing(run):
    problem = make_problem(DecodeShape(2, 1, 64, 600))
    problem.q[:, 0] = 1
    only_last_tile = DecodeProblem(problem.q, problem.k[512:], problem.v[512:])
    problem.k[:512, 0, 0] = -np.inf
    np.testing.assert_array_equal(run(problem), run(only_last_tile))


# ---- exact identities ----------------------------------------------------------------------------


@pytest.mark.parametrize("head_dim", HEAD_DIMS)
def test_one_key_returns_its_value_row(run, head_dim):
    problem = make_problem(DecodeShape(6, 2, head_dim, 1), "wide range")
    expected = np.repeat(problem.v[0].astype(np.float32), 3, axis=0)
    np.testing.assert_array_equal(run(problem), expected)


@pytest.mark.parametrize("seq_len", [1, 33, 300, 1000])
@pytest.mark.parametrize("head_dim", [48, 64, 80, 128])
def test_equal_query_heads_return_equal_bits(run, head_dim, seq_len):
    problem = make_problem(DecodeShape(7, 1, head_dim, seq_len))
    problem.q[:] = problem.q[0]
    out = run(problem)
    np.testing.assert_array_equal(out, np.broadcast_to(out[0], out.shape))


@pytest.mark.parametrize("seq_len", [1, 2, 64, 256, 1024, 4096])
@pytest.mark.parametrize("head_dim", [4, 64, 80, 128])
def test_equal_weights_of_a_power_of_two_average_exactly(run, head_dim, seq_len):
    problem = make_problem(DecodeShape(2, 1, head_dim, seq_len))
    problem.q[:] = 0
    problem.v[:] = np.random.default_rng(seq_len).integers(-8, 9, problem.v.shape)
    expected = problem.v[:, 0].astype(np.float64).mean(axis=0)
    np.testing.assert_array_equal(run(problem), np.tile(expected, (2, 1)))


@pytest.mark.parametrize("head_dim", [4, 64, 80, 128])
def test_large_equal_values_average_to_themselves(run, head_dim):
    problem = constant_problem(DecodeShape(1, 1, head_dim, 64), 0, 1, 60000)
    np.testing.assert_array_equal(run(problem), 60000)


@pytest.mark.parametrize("seq_len", [2, 31, 257, 1000, 4097])
@pytest.mark.parametrize("head_dim", [36, 64, 80, 128])
def test_values_of_one_return_one(run, head_dim, seq_len):
    problem = make_problem(DecodeShape(2, 1, head_dim, seq_len))
    problem.v[:] = 1
    error = abs(run(problem).astype(np.float64) - 1).max()
    assert error <= 2.0**-24 * (4 * np.sqrt(seq_len) + 8)


@pytest.mark.parametrize("seq_len", [64, 256, 1024])
def test_values_of_one_return_exactly_one_for_a_zero_query(run, seq_len):
    problem = make_problem(DecodeShape(2, 1, 64, seq_len))
    problem.q[:] = 0
    problem.v[:] = 1
    np.testing.assert_array_equal(run(problem), 1)


@pytest.mark.parametrize("row", [0, 1, 255, 256, 257, 510, 511])
@pytest.mark.parametrize("head_dim", [64, 80])
def test_a_key_far_ahead_returns_its_value_row(run, head_dim, row):
    problem = make_problem(DecodeShape(2, 1, head_dim, 512))
    problem.q[:] = abs(problem.q) + 1
    problem.k[row] = 256
    expected = np.tile(problem.v[row].astype(np.float32), (2, 1))
    np.testing.assert_array_equal(run(problem), expected)


def test_each_head_of_a_large_group_finds_its_own_key(run):
    problem = constant_problem(DecodeShape(71, 1, 64, 33), 0, 0, 0)
    rows = np.arange(33)
    problem.k[rows, 0, rows] = 20
    problem.v[:] = rows[:, None, None]
    heads = np.arange(71)
    problem.q[heads, heads % 33] = 1
    expected = np.broadcast_to((heads % 33)[:, None], (71, 64))
    np.testing.assert_allclose(run(problem, scale=1), expected, atol=1e-5)


@pytest.mark.parametrize("n_heads", [12, 20, 28, 48])
def test_heads_of_a_group_read_their_kv_head(run, n_heads):
    problem = constant_problem(DecodeShape(n_heads, 4, 128, 5), 0, 0, 0)
    problem.v[:] = np.arange(4)[None, :, None]
    expected = np.repeat(np.arange(4), n_heads // 4)[:, None]
    np.testing.assert_array_equal(run(problem), np.broadcast_to(expected, (n_heads, 128)))


# ---- what must not be read or written ------------------------------------------------------------


@pytest.mark.parametrize("poison", [np.nan, np.inf, 1e4])
@pytest.mark.parametrize("seq_len", [1, 31, 48, 129, 256, 300])
@pytest.mark.parametrize("head_dim", [64, 80, 128])
def test_rows_past_the_length_do_not_matter(run, head_dim, seq_len, poison):
    problem = make_problem(DecodeShape(4, 2, head_dim, seq_len))
    expected = run(problem, spare_rows=0)
    np.testing.assert_array_equal(run(problem, spare_rows=80, poison=poison), expected)


@pytest.mark.parametrize("head_dim", SOME_HEAD_DIMS)
def test_neighbouring_heads_do_not_matter(run, head_dim):
    problem = make_problem(DecodeShape(3, 3, head_dim, 300))
    expected = run(problem)
    problem.k[:, [0, 2]] = np.nan
    problem.v[:, [0, 2]] = np.nan
    np.testing.assert_array_equal(run(problem)[1], expected[1])


@pytest.mark.parametrize("head_dim", SOME_HEAD_DIMS)
def test_a_row_of_grouped_heads_equals_the_head_alone(run, head_dim):
    problem = make_problem(DecodeShape(6, 2, head_dim, 300))
    out = run(problem)
    alone = DecodeProblem(problem.q[5:], problem.k[:, 1:].copy(), problem.v[:, 1:].copy())
    np.testing.assert_array_equal(run(alone)[0], out[5])


@pytest.mark.parametrize("head_dim", [36, 64, 80, 128])
def test_nan_that_is_read_is_seen(run, head_dim):
    problem = make_problem(DecodeShape(2, 1, head_dim, 16))
    problem.q[0, 0] = np.nan
    problem.v[3, 0, 1] = np.nan
    seen = np.isnan(run(problem))
    assert seen[0].all()
    np.testing.assert_array_equal(np.flatnonzero(seen[1]), [1])


@pytest.mark.parametrize("head_dim", [36, 64, 128])
def test_length_0_writes_zeros(run, head_dim):
    problem = make_problem(DecodeShape(4, 2, head_dim, 0))
    np.testing.assert_array_equal(run(problem), 0)


@pytest.mark.parametrize("head_dim", [129, 130, 256, 2**32 - 4])
def test_a_head_dim_over_128_leaves_the_output_alone(run, head_dim):
    words = np.array([2, 1, head_dim, head_dim, 1, 0, 0, 0], np.uint32)
    buffers = [run.buffer(np.ones(1024, dtype)) for dtype in ("f4", "f2", "f2", "f4")]
    with run.device.encoder() as encoder:
        run.dispatch(encoder, "flash_attention", buffers, words.tobytes())
    np.testing.assert_array_equal(np.asarray(buffers[3]), 1)


@pytest.mark.parametrize("row_stride", [2**30, 2**31])
def test_row_offsets_pass_32_bits(run, row_stride):
    """Two heads of three rows, 2³¹ or 2³² elements long, of memory that is hardly touched."""
    heads, head_dim, rows = 2, 64, 3
    item = np.dtype(np.float16).itemsize
    length = (2 * row_stride + heads * head_dim) * item
    pages = -(-length // run.device.page_size)
    flags = mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS | getattr(mmap, "MAP_NORESERVE", 0)
    memory = mmap.mmap(-1, pages * run.device.page_size, flags=flags)
    cache = np.frombuffer(memory, np.float16)
    for row, head in itertools.product(range(rows), range(heads)):
        cache[row * row_stride + head * head_dim :][:head_dim] = 10 * head + row + 1

    kv = run.device.wrap(cache)
    out = run.buffer(np.full((heads, head_dim), np.nan, np.float32))
    words = np.array([heads, heads, head_dim, row_stride, rows, 0, 0, 0], np.uint32)
    q = run.buffer(np.zeros((heads, head_dim), np.float32))
    with run.device.encoder() as encoder:
        run.dispatch(encoder, "flash_attention", (q, kv, kv, out), words.tobytes())
    expected = np.broadcast_to([[2], [12]], (heads, head_dim))
    np.testing.assert_allclose(np.asarray(out), expected, rtol=1e-6)


# ---- schedules -----------------------------------------------------------------------------------


@pytest.mark.skipif(not _host.available(), reason="only the host device has schedules")
@pytest.mark.parametrize("head_dim", [80, 128])
def test_every_schedule_gives_the_same_bits(head_dim):
    problem = make_problem(DecodeShape(4, 2, head_dim, 300))
    expected = DecodeRunner(fm.Device(engine="simt"))(problem)
    schedules = [{"order": "lowest"}, *({"order": "random", "seed": n} for n in range(1, 21))]
    for schedule, threads in itertools.product(schedules, (1, 2)):
        other = DecodeRunner(fm.Device(engine="simt", threads=threads, **schedule))
        np.testing.assert_array_equal(other(problem), expected, str(schedule))
