"""fm.attention by prefill: rows, masks, windows, layouts, which kernels, and what it refuses."""

import sys
import threading
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest

import flashmetal as fm
from flashmetal.prefill_problems import MASKS, PrefillShape, make_prefill_problem
from flashmetal.reference import compare, prefill_reference

pytestmark = pytest.mark.keeps_objects

LEAST = -65504.0


# The fallback's twice, the tensor kernels'.
@pytest.fixture(params=[64, 100, 256, 512])
def head_dim(request):
    return request.param


def arrays_of(*shape, seed=0):
    problem = make_prefill_problem(PrefillShape(*shape), seed=seed)
    return problem.q, problem.k, problem.v


def seen(rows, keys, window=None):
    """Which keys a causal row sees: the last row stands at the last key."""
    distance = np.arange(keys - rows, keys)[:, None] - np.arange(keys)
    return (distance >= 0) & (distance < (keys if window is None else window))


def assert_accurate(out, q, k, v, visible=None, scale=None):
    mask = np.zeros((len(q), len(k)))
    if visible is not None:
        mask[~visible] = -np.inf
    accuracy = compare(out, prefill_reference(q, k, v, mask, scale))
    assert accuracy.within_bound, accuracy
    assert accuracy.within_nmse_limits, accuracy


# ---- results -------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("rows", "n_heads", "n_kv_heads", "kv_len"),
    [(1, 1, 1, 1), (1, 4, 2, 100), (2, 3, 1, 64), (17, 2, 2, 65), (33, 8, 1, 130), (70, 2, 1, 7)],
)
def test_any_number_of_rows_is_served(head_dim, rows, n_heads, n_kv_heads, kv_len):
    q, k, v = arrays_of(rows, n_heads, n_kv_heads, head_dim, kv_len)
    out = fm.attention(q, k, v)
    assert (out.dtype, out.shape) == (np.float32, q.shape)
    assert_accurate(out, q, k, v)


def test_a_row_without_its_axis_is_served(head_dim):
    q, k, v = arrays_of(1, 4, 2, head_dim, 100)
    out = fm.attention(q[0], k, v)
    assert out.shape == (4, head_dim)
    assert np.array_equal(out, fm.attention(q, k, v)[0])


@pytest.mark.parametrize(("rows", "kv_len"), [(1, 64), (2, 4), (40, 40), (33, 200), (40, 30)])
def test_causal_aligns_the_last_row_with_the_last_key(head_dim, rows, kv_len):
    q, k, v = arrays_of(rows, 2, 1, head_dim, kv_len)
    out = fm.attention(q, k, v, causal=True)
    assert_accurate(out, q, k, v, seen(rows, kv_len))
    assert not out[: max(0, rows - kv_len)].any()


@pytest.mark.parametrize("window", [1, 5, 64, 100, 1000])
@pytest.mark.parametrize(("rows", "kv_len"), [(1, 300), (40, 300), (40, 40), (40, 30)])
def test_a_window_bounds_what_a_causal_row_sees(head_dim, rows, kv_len, window):
    q, k, v = arrays_of(rows, 2, 1, head_dim, kv_len)
    out = fm.attention(q, k, v, causal=True, window=window)
    assert_accurate(out, q, k, v, seen(rows, kv_len, window))


def test_keys_before_every_window_are_not_read(head_dim):
    q, k, v = arrays_of(20, 2, 1, head_dim, 300)
    expected = fm.attention(q, k, v, causal=True, window=64)
    k[:217] = v[:217] = np.nan
    assert np.array_equal(fm.attention(q, k, v, causal=True, window=64), expected)


@pytest.mark.parametrize("mask", MASKS)
def test_masks_of_f16_are_added(head_dim, mask):
    problem = make_prefill_problem(PrefillShape(35, 2, 1, head_dim, 200), mask=mask)
    reference = prefill_reference(problem.q, problem.k, problem.v, problem.mask)
    out = fm.attention(problem.q, problem.k, problem.v, problem.mask)
    assert compare(out, reference).within_bound


@pytest.mark.parametrize("dtype", ["bool", "float16", "float32", "float64"])
def test_masks_of_other_types_hide_the_same_keys(head_dim, dtype):
    q, k, v = arrays_of(35, 2, 1, head_dim, 200)
    visible = np.random.default_rng(0).random((35, 200)) < 0.5
    mask = visible if dtype == "bool" else np.where(visible, 0, -np.inf).astype(dtype)
    out = fm.attention(q, k, v, mask)
    assert_accurate(out, q, k, v, visible)
    assert np.array_equal(out, fm.attention(q, k, v, visible))


@pytest.mark.parametrize(
    ("value", "hides"),
    [(-1e9, True), (-1e10, True), (-3e38, True), (-65505.0, True), (-65519.0, True),
     (LEAST, False), (-65503.0, False)],
)  # fmt: skip
def test_additive_masks_below_the_least_f16_hide(head_dim, value, hides):
    """Hidden keys everywhere give zeros; where the least f16 is in their place they do not."""
    q, k, v = arrays_of(2, 2, 1, head_dim, 70)
    out = fm.attention(q, k, v, np.full((2, 70), value, np.float32))
    assert bool(out.any()) is not hides
    assert np.isfinite(out).all()


def test_nan_in_a_mask_is_seen(head_dim):
    q, k, v = arrays_of(3, 1, 1, head_dim, 70)
    mask = np.zeros((3, 70), np.float32)
    mask[1, 3] = np.nan
    out = fm.attention(q, k, v, mask)
    assert np.isnan(out).all(axis=(1, 2)).tolist() == [False, True, False]


def test_a_mask_and_causal_both_hide(head_dim):
    q, k, v = arrays_of(20, 2, 1, head_dim, 90)
    visible = np.random.default_rng(1).random((20, 90)) < 0.5
    out = fm.attention(q, k, v, visible, causal=True, window=30)
    assert_accurate(out, q, k, v, visible & seen(20, 90, 30))


@pytest.mark.parametrize("shape", [(70,), (1, 70), (5, 1), (1, 1), ()])
def test_masks_are_broadcast(head_dim, shape):
    q, k, v = arrays_of(5, 2, 1, head_dim, 70)
    mask = np.random.default_rng(2).standard_normal(shape).astype(np.float32)
    whole = np.ascontiguousarray(np.broadcast_to(mask, (5, 70)))
    assert np.array_equal(fm.attention(q, k, v, mask), fm.attention(q, k, v, whole))


@pytest.mark.parametrize("scale", [0.5, np.float32(0.01), 0])
def test_scale_is_used(head_dim, scale):
    q, k, v = arrays_of(9, 2, 1, head_dim, 20)
    reference = prefill_reference(q, k, v, np.zeros((9, 20)), float(np.float32(scale)))
    assert compare(fm.attention(q, k, v, scale=scale), reference).within_bound


def test_rows_that_see_nothing_are_exactly_zero(head_dim):
    q, k, v = arrays_of(3, 2, 1, head_dim, 70)
    visible = np.ones((3, 70), bool)
    visible[1] = False
    out = fm.attention(q, k, v, visible)
    assert out.any(axis=(1, 2)).tolist() == [True, False, True]


def test_empty_calls_give_zeros(head_dim):
    q, k, v = arrays_of(3, 2, 1, head_dim, 70)
    assert fm.attention(q[:0], k, v).shape == (0, 2, head_dim)
    out = fm.attention(q, k[:0], v[:0], np.zeros((3, 0), np.float32))
    assert out.shape == q.shape
    assert not out.any()


def test_arrays_of_any_layout_are_copied(head_dim):
    q, k, v = arrays_of(5, 4, 2, head_dim, 70)
    mask = np.random.default_rng(3).standard_normal((5, 70)).astype(np.float16)
    expected = fm.attention(q, k, v, mask)
    heads_first = np.ascontiguousarray(q.transpose(1, 0, 2)).transpose(1, 0, 2)
    fused = np.concatenate([k, v, k], axis=1)
    backwards = v[::-1].copy()[::-1]
    out = fm.attention(heads_first, fused[:, :2], backwards, np.asfortranarray(mask))
    assert np.array_equal(out, expected)


def test_read_only_arrays_are_taken(head_dim):
    arrays = arrays_of(5, 4, 2, head_dim, 70)
    expected = fm.attention(*arrays)
    for array in arrays:
        array.flags.writeable = False
    assert np.array_equal(fm.attention(*arrays), expected)


def test_inputs_are_left_alone(head_dim):
    arrays = (*arrays_of(5, 4, 2, head_dim, 70), np.zeros((5, 70), np.float32))
    copies = [array.copy() for array in arrays]
    fm.attention(*arrays, causal=True)
    assert all(map(np.array_equal, arrays, copies))


def test_what_an_earlier_call_left_in_the_pool_does_not_matter(head_dim):
    q, k, v = arrays_of(5, 4, 2, head_dim, 70)
    expected = fm.attention(q, k, v)
    whole = np.full((128, 2, head_dim), np.nan, np.float16)
    fm.attention(q, whole, whole, np.full((5, 128), np.nan, np.float16))
    assert np.array_equal(fm.attention(q, k, v), expected)


def test_threads_share_the_default_device(head_dim):
    problems = [arrays_of(3 + index, 2, 1, head_dim, 60 + index, seed=index) for index in range(8)]
    barrier = threading.Barrier(8)

    def run(problem):
        barrier.wait()
        return [fm.attention(*problem, causal=True) for _ in range(3)]

    with ThreadPoolExecutor(8) as pool:
        for problem, outs in zip(problems, pool.map(run, problems), strict=True):
            for out in outs:
                assert_accurate(out, *problem, seen(len(problem[0]), len(problem[1])))


def test_repeated_calls_allocate_nothing(host, head_dim):
    q, k, v = arrays_of(5, 4, 2, head_dim, 70)
    fm.attention(q, k, v)
    before = host.live_objects("HMBuffer")
    for _ in range(5):
        fm.attention(q, k, v, causal=True)
    assert host.live_objects("HMBuffer") == before


def test_failed_call_leaves_the_next_one_right(host, head_dim):
    q, k, v = arrays_of(5, 4, 2, head_dim, 70)
    expected = fm.attention(q, k, v)
    host.set_faults("exec:code=8")
    with pytest.raises(fm.errors.CommandBufferError):
        fm.attention(q, k, v)
    assert np.array_equal(fm.attention(q, k, v), expected)


# ---- refusals ------------------------------------------------------------------------------------


@pytest.mark.parametrize("sign", [1, -1])
@pytest.mark.parametrize(("scale", "q"), [(1.0, 65504.0), (0.5, 131008.0), (-2.0, 32752.0)])
def test_scaled_queries_reach_to_the_end_of_f16(head_dim, sign, scale, q):
    _, k, v = arrays_of(2, 1, 1, head_dim, 5)
    k[...] = 0
    queries = np.zeros((2, 1, head_dim), np.float32)
    queries[1, 0, 7] = sign * q
    assert np.isfinite(fm.attention(queries, k, v, scale=scale)).all()
    queries[1, 0, 7] = sign * np.nextafter(np.float32(q), np.float32(np.inf))
    reached = abs(float(queries[1, 0, 7]) * scale)
    with pytest.raises(fm.errors.InvalidArgument) as caught:
        fm.attention(queries, k, v, scale=scale)
    assert str(caught.value) == (
        f"Invalid argument: attention: |scale·q| reaches {reached:.9g}; at head_dim {head_dim} the "
        "kernel keeps it in half, up to 65504: pass a smaller scale or smaller queries"
    )


def test_infinite_queries_are_refused_and_nan_is_seen(head_dim):
    q, k, v = arrays_of(2, 1, 1, head_dim, 5)
    q[0, 0, 0] = np.nan
    assert np.isnan(fm.attention(q, k, v)).all(axis=(1, 2)).tolist() == [True, False]
    q[1, 0, 0] = -np.inf
    with pytest.raises(fm.errors.InvalidArgument, match=r"\|scale·q\| reaches inf"):
        fm.attention(q, k, v)


@pytest.mark.parametrize("dtype", ["int8", "int64", "complex64", ">f4", ">f2", "O"])
def test_masks_of_other_dtypes_are_refused_with_the_conversion(dtype):
    q, k, v = arrays_of(2, 1, 1, 256, 5)
    with pytest.raises(fm.errors.UnsupportedDtype) as caught:
        fm.attention(q, k, v, np.zeros((2, 5), dtype))
    name = dtype if ">" in dtype else np.dtype(dtype).name
    assert str(caught.value) == (
        f"Unsupported dtype: {name}; attention: mask must be bool, true where a row sees a key, or "
        "float16, float32 or float64, added to the scores: mask.astype(bool) or "
        "mask.astype('float32') makes them"
    )


@pytest.mark.parametrize("shape", [(3, 5), (2, 4), (2, 5, 1), (1, 2, 5), (6,)])
def test_masks_of_other_shapes_are_refused(shape):
    q, k, v = arrays_of(2, 1, 1, 256, 5)
    with pytest.raises(fm.errors.InvalidArgument) as caught:
        fm.attention(q, k, v, np.zeros(shape, np.float32))
    assert str(caught.value) == (
        "Invalid argument: attention: mask must be [rows, keys] = [2, 5] or broadcast to it, "
        f"got {list(shape)}; all heads share it"
    )


def test_masks_that_are_no_arrays_are_refused():
    q, k, v = arrays_of(2, 1, 1, 256, 5)
    with pytest.raises(fm.errors.InvalidArgument, match="mask must be an array"):
        fm.attention(q, k, v, [[0.0, 1.0], [2.0]])


@pytest.mark.parametrize("value", [65505.0, 7e4, np.inf])
def test_masks_above_f16_are_refused(value):
    q, k, v = arrays_of(2, 1, 1, 256, 5)
    mask = np.zeros((2, 5))
    mask[1, 4] = 65504
    fm.attention(q, k, v, mask)
    mask[1, 4] = value
    with pytest.raises(fm.errors.InvalidArgument, match=r"mask has .*: the kernel takes float16"):
        fm.attention(q, k, v, mask)


@pytest.mark.parametrize("window", [0, -1, 1.5, "4"])
def test_windows_are_integers_from_1_on(window):
    q, k, v = arrays_of(2, 1, 1, 256, 5)
    with pytest.raises(fm.errors.InvalidArgument) as caught:
        fm.attention(q, k, v, causal=True, window=window)
    assert str(caught.value) == (
        f"Invalid argument: attention: window must be an integer from 1 on, got {window!r}"
    )


def test_windows_are_causal():
    q, k, v = arrays_of(2, 1, 1, 256, 5)
    with pytest.raises(fm.errors.InvalidArgument, match=r"window counts keys .*: pass causal=True"):
        fm.attention(q, k, v, window=4)


@pytest.mark.parametrize("head_dim", [2, 66, 129, 255, 257, 260, 320, 576, 1024])
def test_other_head_dims_are_refused_with_those_that_are_served(head_dim):
    for rows in (1, 2):
        q, k = np.zeros((rows, 1, head_dim), np.float32), np.zeros((5, 1, head_dim), np.float16)
        with pytest.raises(fm.errors.UnsupportedFeature) as caught:
            fm.attention(q, k, k)
        assert str(caught.value) == (
            f"Unsupported feature: attention: head_dim {head_dim}: this version has any rows and "
            "masks, at a head_dim that is a multiple of 4 up to 256, and at 512"
        )


# ---- which kernels -------------------------------------------------------------------------------


@pytest.fixture
def kernels_of(monkeypatch):
    """The names of the attention kernels that a call asks the registry for."""
    module = sys.modules["flashmetal.attention"]  # which the function of its name hides
    found = []

    class Recorder(fm.KernelRegistry):
        def get_pipeline(self, name, *arguments, **options):
            found.append(name)
            return super().get_pipeline(name, *arguments, **options)

    monkeypatch.setattr(module, "KernelRegistry", Recorder)
    monkeypatch.setattr(module, "_contexts", {})

    def names_of(device, *arguments, **options):
        found.clear()
        fm.attention(*arguments, device=device, **options)
        return [name for name in found if "blk" not in name]

    return names_of


SIMDGROUP, TENSOR = "flash_attn_prefill_simdgroup_f16", "flash_attn_prefill_tensor_f16"


@pytest.mark.parametrize(
    ("tensor_api", "head_dim", "rows", "kernel"),
    [
        (True, 64, 2, f"{SIMDGROUP}_d64"),
        (True, 100, 2, SIMDGROUP),
        (True, 132, 1, SIMDGROUP),
        (True, 252, 40, SIMDGROUP),
        (True, 256, 1, f"{TENSOR}_d256"),
        (True, 256, 40, f"{TENSOR}_d256"),
        (True, 512, 1, f"{TENSOR}_d512"),
        (False, 64, 2, f"{SIMDGROUP}_d64"),
        (False, 256, 1, f"{SIMDGROUP}_d256"),
        (False, 256, 40, f"{SIMDGROUP}_d256"),
    ],
)
def test_the_tensor_kernels_serve_where_they_are_and_the_fallback_elsewhere(
    kernels_of, tensor_api, head_dim, rows, kernel
):
    device = fm.Device(tensor_api=tensor_api)
    assert kernels_of(device, *arrays_of(rows, 2, 1, head_dim, 70)) == [kernel]


def test_one_row_goes_to_prefill_for_a_mask_alone(kernels_of):
    device = fm.Device()
    q, k, v = arrays_of(1, 2, 1, 64, 70)
    # Decode is called by C, past the recorder.
    assert kernels_of(device, q, k, v, causal=True, window=5) == []
    assert kernels_of(device, q, k, v, np.zeros((1, 70), bool)) == [f"{SIMDGROUP}_d64"]


def test_one_row_by_prefill_is_within_the_bound_of_decode():
    q, k, v = arrays_of(1, 4, 2, 128, 300)
    decode = fm.attention(q, k, v)
    prefill = fm.attention(q, k, v, np.ones((1, 300), bool))
    reference = prefill_reference(q, k, v, np.zeros((1, 300)))
    assert (abs(prefill - decode) <= 2 * reference.bound).all()
    assert not np.array_equal(prefill, decode)


def test_without_the_tensor_api_the_fallback_gives_the_same_within_the_bound():
    q, k, v = arrays_of(40, 4, 2, 256, 200)
    whole, reduced = (fm.Device(engine="simt", tensor_api=present) for present in (True, False))
    fallback = fm.attention(q, k, v, causal=True, device=reduced)
    assert_accurate(fallback, q, k, v, seen(40, 200))
    assert not np.array_equal(fallback, fm.attention(q, k, v, causal=True, device=whole))


def test_without_the_tensor_api_the_error_names_the_system_and_the_alternatives():
    device = fm.Device(tensor_api=False)
    q, k, v = arrays_of(2, 1, 1, 512, 5)
    for _ in range(2):
        with pytest.raises(fm.errors.UnsupportedFeature) as caught:
            fm.attention(q, k, v, device=device)
        text = str(caught.value)
        assert "head_dim 512 needs Metal's tensor API" in text
        assert "Host Metal on Linux" in text
        assert "language version 3.2" in text
        assert "alternatives: " in text
        assert "a head_dim that is a multiple of 4 up to 256" in text


def test_without_the_tensor_api_decode_is_the_same():
    device = fm.Device(tensor_api=False)
    q, k, v = arrays_of(1, 4, 2, 64, 20)
    assert np.array_equal(fm.attention(q, k, v, device=device), fm.attention(q, k, v))
