"""KVCache: what is stored, what is refused, and that nothing in flight sees its rows change."""

import gc
import sys

import numpy as np
import pytest
from small_kernels import ADD

import flashmetal as fm
from flashmetal.errors import F16Overflow, InvalidArgument, InvalidState, UnsupportedDtype
from flashmetal.ops.flash_attention import FlashAttentionParams, encode_attention, register

HEADS, WIDTH = 2, 64


def cache_of(device, capacity=8, growth="fixed", layers=2):
    return fm.KVCache(device, layers, capacity, HEADS, WIDTH, growth=growth)


def rows_of(count, first=0, dtype="f4"):
    """Rows that say which they are."""
    numbers = np.arange(first, first + count).astype(dtype)
    return np.ascontiguousarray(np.broadcast_to(numbers[:, None, None], (count, HEADS, WIDTH)))


def stored(cache, layer=0):
    """The first element of each row of keys, and of values."""
    return tuple(
        np.asarray(side(layer))[: cache.length(layer), 0, 0].tolist() for side in (cache.k, cache.v)
    )


# ---- what is stored ------------------------------------------------------------------------------


@pytest.mark.parametrize("dtype", ["f4", "f2"])
def test_rows_are_appended_layer_by_layer(device, dtype):
    cache = cache_of(device)
    assert cache.append(0, rows_of(3, dtype=dtype), rows_of(3, 10, dtype)) == 3
    assert cache.append(0, rows_of(2, 3, dtype)[0], rows_of(2, 13, dtype)[0]) == 4
    assert stored(cache) == ([0, 1, 2, 3], [10, 11, 12, 13])
    assert (cache.length(0), cache.length(1), len(cache)) == (4, 0, 0)
    cache.append(1, rows_of(1, dtype=dtype), rows_of(1, dtype=dtype))
    assert len(cache) == 1


def test_views_are_read_only_buffers_of_the_whole_capacity(device):
    cache = cache_of(device)
    for side in (cache.k(1), cache.v(1)):
        assert (side.shape, side.dtype, side.read_only) == ((8, HEADS, WIDTH), "f16", True)
        assert not np.asarray(side).any()
    assert not np.shares_memory(np.asarray(cache.k(0)), np.asarray(cache.v(0)))


def store(device, values):
    """The bits of f16 that numbers of f32 become, through a cache."""
    width = 256
    cache = fm.KVCache(device, 1, len(values) // width, 1, width)
    cache.append(0, values.reshape(-1, 1, width), values.reshape(-1, 1, width))
    return np.asarray(cache.k(0)).view("u2").ravel()


def test_every_half_and_what_lies_between_is_rounded_as_numpy_does(device):
    halves = np.arange(1 << 16, dtype="u2").view("f2")
    finite = halves[np.isfinite(halves)].astype("f4")
    with np.errstate(over="ignore"):  # there is nothing above the largest
        ulp = np.nan_to_num(np.spacing(np.abs(finite).astype("f2")).astype("f4"), posinf=32)
    candidates = [finite + ulp * np.float32(part) for part in (-0.75, -0.5, -0.25, 0, 0.25, 0.5)]
    # Neighbours of the ties, and numbers of any bits.
    ties = finite + ulp * np.float32(0.5)
    candidates += [np.nextafter(ties, np.float32(sign)) for sign in (-np.inf, np.inf)]
    candidates.append(np.random.default_rng(2).integers(0, 1 << 32, 1 << 18, "u4").view("f4"))
    numbers = np.concatenate(candidates).astype("f4")
    numbers = numbers[np.isfinite(numbers) & (np.abs(numbers) < 65520)]
    numbers = numbers[: len(numbers) // 256 * 256]
    with np.errstate(all="ignore"):
        assert np.array_equal(store(device, numbers), numbers.astype("f2").view("u2"))


def test_infinities_and_nan_stay_what_they_are(device):
    numbers = np.zeros(256, "f4")
    numbers[:4] = np.inf, -np.inf, np.nan, -0.0
    found = store(device, numbers).view("f2")
    assert found[0] == np.inf
    assert found[1] == -np.inf
    assert np.isnan(found[2])
    assert np.signbit(found[3])


LAYOUTS = {
    "step": lambda a: a[::2],
    "backward": lambda a: a[::-1],
    "heads of a wider array": lambda a: np.concatenate([a, a], axis=1)[:, HEADS:],
    "transposed heads": lambda a: np.ascontiguousarray(a.transpose(1, 0, 2)).transpose(1, 0, 2),
    "transposed elements": lambda a: np.ascontiguousarray(a.transpose(2, 0, 1)).transpose(1, 2, 0),
    "one row for all": lambda a: np.broadcast_to(a[:1], (4, HEADS, WIDTH)),
}


@pytest.mark.parametrize("dtype", ["f4", "f2"])
@pytest.mark.parametrize("layout", LAYOUTS)
def test_rows_of_any_layout(device, layout, dtype):
    whole = np.random.default_rng(3).standard_normal((8, HEADS, WIDTH)).astype(dtype)
    source = LAYOUTS[layout](whole)
    cache = cache_of(device)
    cache.append(0, source, source)
    for side in (cache.k(0), cache.v(0)):
        assert np.array_equal(np.asarray(side)[: len(source)], source.astype("f2"))


@pytest.mark.parametrize("dtype", ["f4", "f2"])
def test_rows_need_no_alignment(device, dtype):
    rows = np.random.default_rng(5).standard_normal((3, HEADS, WIDTH)).astype(dtype)
    memory = bytearray(rows.nbytes + 1)
    memory[1:] = rows.tobytes()
    unaligned = np.frombuffer(memory, dtype, offset=1).reshape(rows.shape)
    cache = cache_of(device)
    cache.append(0, unaligned, unaligned)
    assert np.array_equal(np.asarray(cache.k(0))[:3], rows.astype("f2"))


def test_many_rows_at_once(device):
    source = np.random.default_rng(4).standard_normal((2000, HEADS, WIDTH)).astype("f4")
    cache = cache_of(device, 2000)
    cache.append(0, source, source)
    assert np.array_equal(np.asarray(cache.v(0)), source.astype("f2"))


def test_tensors_and_buffers_are_taken(device):
    torch = pytest.importorskip("torch")
    cache = cache_of(device)
    cache.append(0, torch.from_numpy(rows_of(2)), torch.from_numpy(rows_of(2, 5)).half())
    cache.append(0, device.wrap(rows_of(1, 2), copy=None), device.wrap(rows_of(1, 7), copy=None))
    assert stored(cache) == ([0, 1, 2], [5, 6, 7])


def test_no_rows_are_nothing(device):
    cache = cache_of(device)
    with pytest.raises(InvalidArgument, match="byte length must be > 0"):
        cache.append(0, rows_of(0), rows_of(0))
    assert cache.length(0) == 0


OWN_ROWS = {
    "later": (4, lambda k, v: (k[0:3], v[0:3])),
    "of the other side": (4, lambda k, v: (v[1:4], k[1:4])),
    "backward": (4, lambda k, v: (k[3:0:-1], v[3:0:-1])),
    "one for all": (4, lambda k, v: (np.broadcast_to(k[1:2], (3, HEADS, WIDTH)),) * 2),
}


@pytest.mark.parametrize("growth", ["fixed", "ring"])
@pytest.mark.parametrize("which", OWN_ROWS)
def test_rows_of_the_cache_itself_are_taken_as_they_were(device, growth, which):
    capacity, pick = OWN_ROWS[which]
    cache = cache_of(device, capacity, growth, layers=1)
    cache.append(0, rows_of(4), rows_of(4, 10))
    sources = pick(np.asarray(cache.k(0)), np.asarray(cache.v(0)))
    expected = [source[:, 0, 0].tolist() for source in sources]
    start = 0
    if growth == "fixed":
        cache.truncate(1)
        start = 1
    cache.append(0, *sources)
    found = stored(cache)
    assert [side[start : start + 3] for side in found] == expected


# ---- what is refused -----------------------------------------------------------------------------


@pytest.mark.parametrize("side", ["k", "v"])
@pytest.mark.parametrize("value", [65520, -65520, 1e30, np.finfo("f4").max])
def test_overflow_names_layer_row_and_value_and_appends_nothing(device, side, value):
    cache = cache_of(device)
    cache.append(1, rows_of(1), rows_of(1))
    before = [np.asarray(view(1)).copy() for view in (cache.k, cache.v)]
    good, bad = rows_of(3, 1), rows_of(3, 1)
    bad[2, 1, 5] = value
    with pytest.raises(F16Overflow) as caught:
        cache.append(1, *((bad, good) if side == "k" else (good, bad)))
    error = caught.value
    assert (error.layer, error.name, error.row) == (1, side, 2)
    assert error.value == np.float32(value)
    assert isinstance(error, InvalidArgument | OverflowError)
    assert f"layer 1: {np.float32(value):g} in row 2 of {side}" in str(error)
    assert cache.length(1) == 1
    for view, contents in zip((cache.k, cache.v), before, strict=True):
        assert np.array_equal(np.asarray(view(1)), contents)


def test_the_largest_numbers_that_round_down_are_no_overflow(device):
    numbers = np.full(256, np.nextafter(np.float32(65520), np.float32(0)), "f4")
    assert (store(device, numbers).view("f2") == 65504).all()


@pytest.mark.parametrize("dtype", ["f8", "i4", "u2", ">f4", ">f2", "c8", "O"])
def test_other_types_are_refused(device, dtype):
    with pytest.raises(UnsupportedDtype, match=r"takes v as f16 or f32.*v\.astype"):
        cache_of(device).append(0, rows_of(1), rows_of(1, dtype=dtype))


@pytest.mark.parametrize("source", [None, [1.0], "text", np.ndarray, fm.Buffer], ids=repr)
def test_what_has_no_memory_is_refused_by_its_name(device, source):
    with pytest.raises(InvalidArgument, match=r"append: v must have the buffer protocol"):
        cache_of(device).append(0, rows_of(1), source)


@pytest.mark.parametrize("growth", ["fixed", "ring", "grow"])
def test_more_rows_than_memory_holds_are_refused_before_they_are_read(device, growth):
    # Reading them all would take hours.
    rows = np.broadcast_to(np.zeros((1, HEADS, WIDTH), "f4"), (1 << 44, HEADS, WIDTH))
    cache = cache_of(device, 2, growth)
    with pytest.raises((InvalidState, InvalidArgument, fm.errors.BufferAllocationError)):
        cache.append(0, rows, rows)
    assert (cache.total(0), cache.capacity) == (0, 2)


def test_an_overflow_grows_nothing(device):
    cache = cache_of(device, 2, "grow", layers=1)
    bad = rows_of(3)
    bad[2] = 1e9
    with pytest.raises(F16Overflow):
        cache.append(0, rows_of(3), bad)
    assert (cache.total(0), cache.capacity) == (0, 2)


@pytest.mark.parametrize(
    "shape", [(WIDTH,), (3, WIDTH), (1, 3, WIDTH), (1, HEADS, 8), (1, 1, 2, 64)]
)
def test_other_shapes_are_refused(device, shape):
    with pytest.raises(InvalidArgument, match=r"k must be \[rows, 2, 64\] or \[2, 64\], got"):
        cache_of(device).append(0, np.zeros(shape, "f4"), rows_of(1))


def test_keys_and_values_have_as_many_rows(device):
    with pytest.raises(InvalidArgument, match="k has 2 rows, v has 3"):
        cache_of(device).append(0, rows_of(2), rows_of(3))


@pytest.mark.parametrize("layer", [-1, 2, 1.0, None])
@pytest.mark.parametrize("method", ["append", "length", "total", "k", "v"])
def test_layers_are_counted_from_zero(device, method, layer):
    cache = cache_of(device)
    arguments = (rows_of(1), rows_of(1)) if method == "append" else ()
    with pytest.raises(InvalidArgument, match="layer must be an integer from 0 to 1"):
        getattr(cache, method)(layer, *arguments)


@pytest.mark.parametrize(
    "arguments",
    [(0, 8, 2, 64), (1, 0, 2, 64), (1, 8, -1, 64), (1, 8, 2, 2.5), (1, 8, 2, 64, "no")]
    + [(1, 8, 2, 64, growth) for growth in (None, ["ring"], np.array(["ring", "grow"]))],
)
def test_sizes_are_counts(device, arguments):
    with pytest.raises(InvalidArgument, match="KVCache: "):
        fm.KVCache(device, *arguments)


def test_refusal_by_metal_leaves_nothing(device, host):
    objects = host.live_objects()
    host.set_faults("buffer:after=1")
    with pytest.raises(fm.errors.BufferAllocationError):
        cache_of(device)
    assert host.live_objects() == objects


# ---- full layers ---------------------------------------------------------------------------------


def test_a_fixed_cache_refuses_what_does_not_fit(device):
    cache = cache_of(device, 4)
    cache.append(0, rows_of(3), rows_of(3))
    with pytest.raises(InvalidState, match=r"holds 3 of 4 rows, and 2 more do not fit.*ring"):
        cache.append(0, rows_of(2), rows_of(2))
    assert cache.append(0, rows_of(1, 3), rows_of(1, 3)) == 4
    assert stored(cache)[0] == [0, 1, 2, 3]


def test_a_growing_cache_keeps_its_rows(device):
    cache = cache_of(device, 2, "grow")
    for row in range(37):
        assert cache.append(0, rows_of(1, row), rows_of(1, row + 100)) == row + 1
    assert stored(cache) == (list(range(37)), list(range(100, 137)))
    assert (cache.k(0).shape[0], cache.capacity) == (64, 2)


@pytest.mark.parametrize("kind", ["buffer", "view", "array", "plan"])
def test_it_does_not_grow_under_those_who_use_it(device, kind):
    cache = cache_of(device, 2, "grow")
    cache.append(0, rows_of(2), rows_of(2))
    registry = fm.KernelRegistry(device)
    register(registry)
    q, out = device.alloc((HEADS, WIDTH), "f32"), device.alloc((HEADS, WIDTH), "f32")
    shape = {"n_heads": HEADS, "n_kv_heads": HEADS, "head_dim": WIDTH}
    user = {
        "buffer": lambda: cache.k(0),
        "view": lambda: cache.v(0).view(0, (1, HEADS, WIDTH), "f16"),
        "array": lambda: np.asarray(cache.k(0)),
        "plan": lambda: fm.DecodePlan(registry, q, cache.k(0), cache.v(0), out, **shape),
    }[kind]()
    with pytest.raises(InvalidState, match=r"layer 0 is full, and its memory has \d+ users? \("):
        cache.append(0, rows_of(1), rows_of(1))
    assert cache.length(0) == 2
    # Other layers may grow, and this one once nobody uses it.
    cache.append(1, rows_of(5), rows_of(5))
    del user
    gc.collect()
    assert cache.append(0, rows_of(1, 2), rows_of(1, 2)) == 3
    assert stored(cache)[0] == [0, 1, 2]


def test_a_ring_overwrites_its_oldest_rows(device):
    cache = cache_of(device, 4, "ring")
    cache.append(0, rows_of(3), rows_of(3))
    assert cache.append(0, rows_of(3, 3), rows_of(3, 3)) == 4
    assert stored(cache)[0] == [4, 5, 2, 3]
    assert (cache.total(0), cache.length(0)) == (6, 4)
    cache.append(0, rows_of(4, 6), rows_of(4, 6))
    assert stored(cache)[0] == [8, 9, 6, 7]
    with pytest.raises(InvalidArgument, match="5 rows are more than the 4 of the ring"):
        cache.append(0, rows_of(5), rows_of(5))


# ---- cutting -------------------------------------------------------------------------------------


def test_truncated_rows_are_replaced(device):
    cache = cache_of(device)
    for layer in range(2):
        cache.append(layer, rows_of(5), rows_of(5))
    cache.truncate(2)
    assert (len(cache), cache.length(0)) == (2, 2)
    cache.append(0, rows_of(1, 50), rows_of(1, 50))
    assert stored(cache)[0] == [0, 1, 50]


def test_a_half_done_step_is_undone(device):
    cache = cache_of(device)
    for layer in range(2):
        cache.append(layer, rows_of(3), rows_of(3))
    cache.append(0, rows_of(1, 3), rows_of(1, 3))
    cache.truncate(len(cache))
    assert [cache.length(layer) for layer in range(2)] == [3, 3]


@pytest.mark.parametrize("n", [4, -1, 2.0, None])
def test_no_more_rows_are_kept_than_there_are(device, n):
    cache = cache_of(device, layers=1)
    cache.append(0, rows_of(3), rows_of(3))
    with pytest.raises(InvalidArgument, match="n must be an integer from 0 to 3"):
        cache.truncate(n)


def test_a_ring_that_went_round_is_reset_not_truncated(device):
    cache = cache_of(device, 4, "ring", layers=1)
    cache.append(0, rows_of(4), rows_of(4))
    cache.truncate(1)
    cache.append(0, rows_of(4, 1), rows_of(4, 1))
    with pytest.raises(InvalidState, match="has overwritten its first rows"):
        cache.truncate(1)
    cache.reset()
    assert (len(cache), cache.total(0)) == (0, 0)
    cache.append(0, rows_of(1, 9), rows_of(1, 9))
    assert stored(cache)[0] == [9]


# ---- readers in flight ---------------------------------------------------------------------------


@pytest.fixture
def attend(device):
    """Encode attention over a layer of a cache; gives the encoder and the output."""
    registry = fm.KernelRegistry(device)
    register(registry)
    q = device.alloc((HEADS, WIDTH), "f32")
    np.asarray(q)[:] = np.random.default_rng(6).standard_normal((HEADS, WIDTH))

    def encode(cache, layer=0):
        encoder, out = device.encoder(), device.alloc((HEADS, WIDTH), "f32")
        params = FlashAttentionParams(HEADS, HEADS, WIDTH, cache.length(layer))
        views = cache.k(layer), cache.v(layer)
        encode_attention(encoder, registry, q, *views, out, params)
        return encoder, np.asarray(out)

    attend_q = np.asarray(q)
    encode.q = attend_q
    return encode


def test_attention_reads_the_cache(device, attend):
    random = np.random.default_rng(7)
    cache = cache_of(device, 16)
    k, v = random.standard_normal((2, 11, HEADS, WIDTH)).astype("f4")
    cache.append(0, k, v)
    encoder, out = attend(cache)
    encoder.commit_and_wait()
    keys, values = k.astype("f2").astype("f8"), v.astype("f2").astype("f8")
    scores = np.einsum("hd,nhd->hn", attend.q.astype("f8"), keys) / np.sqrt(WIDTH)
    weights = np.exp(scores - scores.max(axis=1, keepdims=True))
    weights /= weights.sum(axis=1, keepdims=True)
    assert np.abs(out - np.einsum("hn,nhd->hd", weights, values)).max() < 1e-5


def test_the_order_of_a_ring_does_not_change_attention(device, attend):
    random = np.random.default_rng(8)
    k, v = random.standard_normal((2, 13, HEADS, WIDTH)).astype("f2")
    ring, straight = cache_of(device, 8, "ring"), cache_of(device, 8)
    for row in range(13):
        ring.append(0, k[row], v[row])
    straight.append(0, k[5:], v[5:])
    outs = []
    for cache in (ring, straight):
        encoder, out = attend(cache)
        encoder.commit_and_wait()
        outs.append(out)
    assert np.abs(outs[0] - outs[1]).max() < 1e-5


def overwrite_by(how, device):
    """A cache whose next append overwrites a row that attention has read."""
    if how == "ring":
        cache = cache_of(device, 4, "ring")
        cache.append(0, rows_of(4), rows_of(4))
        return cache
    cache = cache_of(device, 4)
    for layer in range(2):
        cache.append(layer, rows_of(4), rows_of(4))
    return cache


@pytest.mark.parametrize("state", ["uncommitted", "in flight"])
@pytest.mark.parametrize("how", ["ring", "truncate", "reset"])
def test_rows_that_are_being_read_are_not_overwritten(device, attend, host, how, state):
    cache = overwrite_by(how, device)
    encoder, _ = attend(cache)
    if how != "ring":
        cache.truncate(3) if how == "truncate" else cache.reset()
    if state == "in flight":
        host.set_faults("hang:ms=100")
        encoder.commit()
    before = np.asarray(cache.k(0)).copy()
    with pytest.raises(InvalidState, match="rows of layer 0 would be overwritten"):
        cache.append(0, rows_of(1, 9), rows_of(1, 9))
    assert np.array_equal(np.asarray(cache.k(0)), before)
    # Another layer is nobody's concern.
    if how != "ring":
        cache.append(1, rows_of(1, 9), rows_of(1, 9))
    encoder.wait() if state == "in flight" else encoder.discard()
    cache.append(0, rows_of(1, 9), rows_of(1, 9))


def test_rows_behind_those_that_are_read_can_be_appended(device, attend, host):
    host.set_faults("hang:ms=50")
    cache = cache_of(device)
    cache.append(0, rows_of(2), rows_of(2))
    encoder, _ = attend(cache)
    encoder.commit()
    cache.append(0, rows_of(3, 2), rows_of(3, 2))
    encoder.wait()


def test_work_in_flight_keeps_the_memory_that_a_layer_grew_out_of(device, attend, host):
    cache = cache_of(device, 2, "grow")
    cache.append(0, rows_of(2), rows_of(2, 5))
    reference, expected = attend(cache)
    reference.commit_and_wait()
    encoder, out = attend(cache)
    host.set_faults("hang:ms=50")
    encoder.commit()
    cache.append(0, rows_of(9, 100), rows_of(9, 100))
    encoder.wait()
    assert np.array_equal(out, expected)


def test_memory_released_through_a_view_is_noticed(device):
    cache = cache_of(device)
    cache.k(0).release()
    with pytest.raises(InvalidState, match="was released through a view"):
        cache.append(0, rows_of(1), rows_of(1))


def test_appending_keeps_no_memory(device):
    cache = cache_of(device, 4, "ring")
    k, v = rows_of(1), rows_of(1)
    for _ in range(50):
        cache.append(0, k, v)
    before = sys.getallocatedblocks()
    for _ in range(2000):
        cache.append(0, k, v)
    assert sys.getallocatedblocks() - before < 10


@pytest.mark.parametrize("state", ["uncommitted", "in flight"])
def test_rows_that_another_device_is_reading_are_not_overwritten(device, host, state):
    """It has a buffer of its own on the same memory."""
    cache = overwrite_by("ring", device)
    other, third = fm.Device(max_threads=512), fm.Device(max_threads=256)
    # Once more, from that buffer.
    other_view = other.wrap(np.asarray(cache.k(0)))
    for reader in (other, third):
        view = other_view if reader is other else third.wrap(np.asarray(other_view))
        encoder = reading_encoder(reader, view)
        if state == "in flight":
            host.set_faults("hang:ms=100")
            encoder.commit()
        with pytest.raises(InvalidState, match="rows of layer 0 would be overwritten"):
            cache.append(0, rows_of(1), rows_of(1))
        encoder.commit_and_wait()
        cache.append(0, rows_of(1), rows_of(1))


def reading_encoder(device, view):
    registry = fm.KernelRegistry(device)
    registry.register_source("add", ADD)
    out = device.alloc(64, "u32")
    encoder = device.encoder()
    encoder.dispatch(registry.get_pipeline("add"), {0: view, 1: out, 2: bytes(4)}, 1, 16)
    return encoder
