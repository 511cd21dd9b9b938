"""DecodePlan and DecodeStep: the bits of encode_attention, the window, and what is refused."""

import copy
import pickle

import numpy as np
import pytest
from small_kernels import ADD

import flashmetal as fm
from flashmetal import _host
from flashmetal.ops.flash_attention import (
    FlashAttentionParams,
    encode_attention,
    kernel_name,
    register,
)

SHAPE = {"n_heads": 4, "n_kv_heads": 2, "head_dim": 64}
ROWS = 600  # of the caches: more than two tiles
SET_ALL = 7  # messages of a dispatch with nothing set: pipeline, four buffers, bytes, dispatch


@pytest.fixture
def registry(device):
    registry = fm.KernelRegistry(device)
    register(registry)
    return registry


def buffers_of(device, shape=SHAPE, rows=ROWS, seed=0):
    """Buffers of random numbers that suit the shape, by name."""
    random = np.random.default_rng(seed)
    token = shape["n_heads"], shape["head_dim"]
    cache = rows, shape["n_kv_heads"], shape["head_dim"]
    buffers = {}
    for name, size, dtype in (
        ("q", token, "f32"),
        ("k_cache", cache, "f16"),
        ("v_cache", cache, "f16"),
        ("out", token, "f32"),
    ):
        buffers[name] = device.alloc(size, dtype)
        np.asarray(buffers[name])[...] = random.standard_normal(size)
    return buffers


def bits_of_dispatch(device, registry, buffers, seq_len, start=0, **shape):
    """What encode_attention gives on views that begin at row `start`."""
    rows = len(buffers["k_cache"])
    shape = {**SHAPE, **shape}
    row_shape = shape["n_kv_heads"], shape["head_dim"]
    row_bytes = 2 * row_shape[0] * row_shape[1]
    views = [
        buffers[name].view(start * row_bytes, (rows - start, *row_shape), "f16")
        for name in ("k_cache", "v_cache")
    ]
    out = device.alloc(buffers["out"].shape, "f32")
    with device.encoder() as encoder:
        params = FlashAttentionParams(seq_len=seq_len, **shape)
        encode_attention(encoder, registry, buffers["q"], *views, out, params)
    return np.asarray(out).tobytes()


def plan_of(registry, buffers, **changes):
    return fm.DecodePlan(registry, *buffers.values(), **{**SHAPE, **changes})


@pytest.fixture
def buffers(device):
    return buffers_of(device)


@pytest.fixture
def plan(registry, buffers):
    return plan_of(registry, buffers)


# ---- results -------------------------------------------------------------------------------------


@pytest.mark.parametrize("head_dim", [4, 64, 80, 128])
def test_results_are_the_bits_of_encode_attention(device, registry, head_dim):
    shape = {**SHAPE, "head_dim": head_dim}
    buffers = buffers_of(device, shape)
    plan = fm.DecodePlan(registry, *buffers.values(), **shape)
    assert plan.pipeline.name == kernel_name(head_dim)
    for seq_len, start in [(0, 0), (1, 0), (257, 0), (ROWS, 0), (256, 1), (100, 500), (1, 599)]:
        with device.encoder() as encoder:
            plan.encode(encoder, seq_len, start)
        found = np.asarray(buffers["out"]).tobytes()
        expected = bits_of_dispatch(device, registry, buffers, seq_len, start, head_dim=head_dim)
        assert found == expected, (seq_len, start)


def test_empty_window_may_stand_at_the_end_of_the_cache(device, plan, buffers):
    np.asarray(buffers["out"])[...] = np.nan
    with device.encoder() as encoder:
        plan.encode(encoder, 0, ROWS)
    assert not np.asarray(buffers["out"]).any()


def test_given_scale_is_used(device, registry, buffers):
    plan = plan_of(registry, buffers, scale=0.25)
    with device.encoder() as encoder:
        plan.encode(encoder, 100)
    assert np.asarray(buffers["out"]).tobytes() == bits_of_dispatch(
        device, registry, buffers, 100, scale=0.25
    )


def test_plan_works_on_views_inside_larger_buffers(device, registry):
    arena = device.alloc(1 << 20, "u8")
    whole = buffers_of(device, rows=100)
    offsets = {"q": 64, "k_cache": 4096 + 8, "v_cache": 200_000, "out": 500_004}
    views = {}
    for name, offset in offsets.items():
        views[name] = arena.view(offset, whole[name].shape, whole[name].dtype)
        np.asarray(views[name])[...] = np.asarray(whole[name])
    plan = plan_of(registry, views)
    with device.encoder() as encoder:
        plan.encode(encoder, 90, 10)
    expected = bits_of_dispatch(device, registry, whole, 90, 10)
    assert np.asarray(views["out"]).tobytes() == expected


def test_shorter_cache_is_the_capacity(device, registry, buffers):
    assert plan_of(registry, buffers).capacity == ROWS
    odd = buffers["v_cache"].view(0, 128 * 10 + 127, "f16")
    plan = plan_of(registry, {**buffers, "v_cache": odd})
    assert plan.capacity == 10


def test_repr_and_attributes(device, plan):
    assert plan.device is device
    assert repr(plan) == (
        f"<flashmetal.DecodePlan of 'flash_attention_hd64' over {ROWS} rows on {device.name}>"
    )


# ---- messages ------------------------------------------------------------------------------------


def count_messages(call):
    before = _host.message_count()
    call()
    return _host.message_count() - before


def test_only_what_has_changed_is_sent(device, registry, plan, buffers):
    other = plan_of(registry, {**buffers, "k_cache": device.alloc((ROWS, 2, 64), "f16")})
    encoder = device.encoder()
    sent = [
        count_messages(lambda args=args, plan=plan: plan.encode(encoder, *args))
        for plan, args in [
            (plan, (100,)),
            (plan, (101,)),
            (plan, (101,)),
            (plan, (101, 1)),
            (plan, (102, 1)),
            (other, (102, 1)),
        ]
    ]
    assert sent == [SET_ALL, 2, 2, 4, 2, 3]
    encoder.discard()


def test_step_sends_what_its_plans_send(device, registry, plan, buffers):
    other = plan_of(registry, {**buffers, "k_cache": device.alloc((ROWS, 2, 64), "f16")})
    step = fm.DecodeStep([plan, fm.BARRIER, other, fm.BARRIER])
    encoder = device.encoder()
    assert count_messages(lambda: step.encode(encoder, 100)) == SET_ALL + 1 + 3 + 1
    assert count_messages(lambda: step.encode(encoder, 101)) == 3 + 1 + 3 + 1
    encoder.discard()


# ---- checks at construction ----------------------------------------------------------------------


@pytest.mark.parametrize(
    ("changes", "text"),
    [
        ({"head_dim": 130}, "DecodePlan requires head_dim ≤ 128 and divisible by 4, got 130"),
        ({"n_heads": 0}, "empty shape FlashAttentionParams(n_heads=0, n_kv_heads=2"),
        ({"n_kv_heads": 3}, "n_heads 4 is not a multiple of n_kv_heads 3"),
        ({"n_heads": -1}, "n_heads must be an integer from 0 to 4294967295, got -1"),
        ({"n_heads": 8}, "q holds 1024 bytes, the strides need 2048"),
        ({"scale": float("nan")}, "scale must be a finite f32, got nan"),
    ],
)
def test_shape_is_checked_as_encode_attention_checks_it(registry, buffers, changes, text):
    with pytest.raises(fm.errors.InvalidArgument) as caught:
        plan_of(registry, buffers, **changes)
    assert str(caught.value).startswith(f"Invalid argument: flash_attention: {text}")


def test_buffers_are_checked_as_encode_attention_checks_them(device, registry, buffers):
    arena = device.alloc(1 << 20, "u8")
    rows = arena.view(0, (ROWS, 2, 64), "f16")
    cases = [
        ({"q": np.zeros((4, 64), "f4")}, "q must be a Buffer, got ndarray"),
        ({"k_cache": buffers["q"]}, "k_cache must be f16, got f32"),
        ({"v_cache": rows.view(0, 100, "f16")}, "v_cache holds 200 bytes, the strides need 256"),
        ({"v_cache": rows.view(4, 1000, "f16")}, "v_cache offset 4 is not a multiple of 8"),
        # The last row of the cache, whatever an encode attends to.
        ({"k_cache": rows, "out": arena.view(ROWS * 256 - 4, (4, 64), "f32")},
         "out overlaps k_cache"),
        ({"out": device.wrap(np.zeros((4, 64), "f4"), copy=True)}, "out is read-only"),
    ]  # fmt: skip
    for changes, text in cases:
        with pytest.raises(fm.errors.InvalidArgument) as caught:
            plan_of(registry, {**buffers, **changes})
        assert str(caught.value).startswith(f"Invalid argument: flash_attention: {text}")


def test_kernel_must_be_there_and_take_256_threads(device, buffers):
    with pytest.raises(fm.errors.KernelNotFound, match="flash_attention_hd64"):
        plan_of(fm.KernelRegistry(device), buffers)
    small = fm.Device(max_threads=128)
    registry = fm.KernelRegistry(small)
    register(registry)
    with pytest.raises(fm.errors.InvalidArgument, match="pipeline allows 128 threads"):
        plan_of(registry, buffers_of(small))


def test_third_party_kernel_of_the_name_is_planned(device, buffers):
    registry = fm.KernelRegistry(device)
    text = """#include <metal_stdlib>
    kernel void flash_attention_hd64(device float *out [[buffer(3)]],
                                     constant uint *words [[buffer(4)]],
                                     uint i [[thread_position_in_grid]]) {
        if (i < 256) out[i] = words[4];
    }"""
    registry.register_source("flash_attention_hd64", text)
    with pytest.raises(fm.errors.InvalidArgument, match="the kernel declares no argument 0"):
        plan_of(registry, buffers)


def test_kernel_that_reads_more_than_a_row_at_a_time_is_refused(registry, buffers):
    """Of the last row it would read what lies behind the cache."""
    text = """#include <metal_stdlib>
    using namespace metal;
    struct Row { half4 quads[256]; };
    kernel void flash_attention_hd64(device const float *q [[buffer(0)]],
                                     device const Row *k [[buffer(1)]],
                                     device const half *v [[buffer(2)]],
                                     device float *out [[buffer(3)]],
                                     constant uint *words [[buffer(4)]],
                                     uint i [[thread_position_in_grid]]) {
        if (i < 64) out[i] = q[i] + k[0].quads[i].x + v[0] + words[4];
    }"""
    registry.register_source("flash_attention_hd64", text)
    with pytest.raises(
        fm.errors.InvalidArgument,
        match=r"argument 1 'k' has 256 bytes from its last row on, and the kernel's type for it "
        "takes 2048: a plan serves kernels",
    ):
        plan_of(registry, buffers)


def test_shape_is_given_by_name(registry, buffers):
    with pytest.raises(TypeError):
        fm.DecodePlan(registry, *buffers.values(), 4, 2, 64)
    with pytest.raises(TypeError):
        fm.DecodePlan(registry, *buffers.values(), n_heads=4)
    with pytest.raises(TypeError):
        fm.DecodePlan(None, *buffers.values(), **SHAPE)


# ---- what is refused at encoding -----------------------------------------------------------------


@pytest.mark.parametrize(
    ("seq_len", "start"),
    [(ROWS + 1, 0), (ROWS, 1), (1, ROWS), (0, ROWS + 1), (2**32 - 1, 2**32 - 1)],
)
def test_rows_beyond_the_cache_are_refused(device, plan, seq_len, start):
    encoder = device.encoder()
    for encode in (plan.encode, fm.DecodeStep([plan]).encode):
        with pytest.raises(fm.errors.InvalidArgument) as caught:
            encode(encoder, seq_len, start)
        assert str(caught.value) == (
            f"Invalid argument: flash_attention: {seq_len} rows from row {start} on are not all "
            f"in the caches, which have {ROWS}"
        )
    assert (encoder.dispatch_count, encoder.command_buffer_count) == (0, 0)


@pytest.mark.parametrize("value", [-1, 2**32, 2**64, 1.0, "1", None])
def test_rows_are_integers(device, plan, value):
    encoder = device.encoder()
    for encode in (plan.encode, fm.DecodeStep([plan]).encode):
        with pytest.raises(fm.errors.InvalidArgument, match="seq_len must be an integer from 0"):
            encode(encoder, value)
        with pytest.raises(fm.errors.InvalidArgument, match="start must be an integer from 0"):
            encode(encoder, 1, value)
    plan.encode(encoder, np.int64(5), start=np.uint8(1))
    encoder.discard()


def test_encoder_of_another_device_is_refused(device, plan):
    other = fm.Device(max_threads=512)
    encoder = other.encoder()
    for encode in (plan.encode, fm.DecodeStep([plan]).encode):
        with pytest.raises(fm.errors.InvalidArgument) as caught:
            encode(encoder, 1)
        assert str(caught.value) == (
            "Invalid argument: flash_attention_hd64: the plan belongs to Metal device "
            f"{device.registry_id}, the encoder to {other.registry_id}"
        )
    assert encoder.command_buffer_count == 0


@pytest.mark.parametrize("name", ["q", "k_cache", "v_cache", "out"])
def test_released_buffer_is_noticed(device, plan, buffers, name):
    step = fm.DecodeStep([plan])
    encoder = device.encoder()
    plan.encode(encoder, 5)
    buffers[name].release()
    index = list(buffers).index(name)
    for encode in (plan.encode, step.encode, plan.encode, step.encode):
        with pytest.raises(fm.errors.InvalidState) as caught:
            encode(encoder, 5)
        assert str(caught.value) == (
            f"Invalid state: flash_attention_hd64: the buffer of argument {index} is released: "
            "its memory is given back"
        )
    assert encoder.dispatch_count == 1
    encoder.commit_and_wait()


@pytest.mark.parametrize("end", ["commit", "commit_and_wait", "discard"])
def test_encoder_that_is_at_its_end_is_refused(device, plan, end):
    encoder = device.encoder("step")
    plan.encode(encoder, 5)
    getattr(encoder, end)()
    state = "discarded" if end == "discard" else "committed already"
    for encode in (plan.encode, fm.DecodeStep([fm.BARRIER, plan]).encode):
        with pytest.raises(fm.errors.InvalidState, match=f"encoder 'step' is {state}"):
            encode(encoder, 5)
    assert (encoder.dispatch_count, encoder.barrier_count) == (1, 0)
    assert _host.quiesce()


def test_refused_encode_leaves_the_plan_usable(device, registry, plan, buffers):
    with device.encoder() as encoder:
        with pytest.raises(fm.errors.InvalidArgument):
            plan.encode(encoder, ROWS + 1)
        plan.encode(encoder, 300)
    found = np.asarray(buffers["out"]).tobytes()
    assert found == bits_of_dispatch(device, registry, buffers, 300)


# ---- DecodeStep ----------------------------------------------------------------------------------


def test_step_encodes_plans_barriers_and_launch_plans_in_order(device, registry):
    registry.register_source("add", ADD)
    layers = [buffers_of(device, seed=seed) for seed in range(3)]
    words = device.alloc(64, "u32")
    one = (1).to_bytes(4, "little")
    count = fm.LaunchPlan(registry.get_pipeline("add"), {0: words, 1: words, 2: one}, 2, 32)
    entries = []
    for layer in layers:
        entries += [plan_of(registry, layer), fm.BARRIER, count, fm.BARRIER]
    step = fm.DecodeStep(iter(entries))
    assert step.entries == tuple(entries)
    with device.encoder() as encoder:
        step.encode(encoder, 200, start=3)
        step.encode(encoder, 201, 3)
    assert (encoder.dispatch_count, encoder.barrier_count) == (12, 12)
    assert np.asarray(words).tolist() == [6] * 64
    for layer in layers:
        found = np.asarray(layer["out"]).tobytes()
        assert found == bits_of_dispatch(device, registry, layer, 201, 3)


def test_capacity_of_a_step_is_that_of_its_shortest_caches(device, registry):
    long, short = (plan_of(registry, buffers_of(device, rows=rows)) for rows in (50, 40))
    step = fm.DecodeStep([long, short])
    assert step.capacity == 40
    encoder = device.encoder()
    with pytest.raises(fm.errors.InvalidArgument, match="in the caches, which have 40"):
        step.encode(encoder, 41)
    # Not even the first plan is encoded.
    assert encoder.command_buffer_count == 0


def test_plan_of_a_step_may_be_encoded_by_itself(device, registry, plan, buffers):
    step = fm.DecodeStep([plan, plan])
    with device.encoder() as encoder:
        plan.encode(encoder, 7)
        encoder.memory_barrier()
        step.encode(encoder, 100)
        encoder.memory_barrier()
        plan.encode(encoder, 9, 2)
    found = np.asarray(buffers["out"]).tobytes()
    assert found == bits_of_dispatch(device, registry, buffers, 9, 2)
    assert encoder.dispatch_count == 4


@pytest.mark.parametrize(
    ("entries", "text"),
    [
        ([], "there is no plan among the entries"),
        ([fm.BARRIER], "there is no plan among the entries"),
        ([fm.BARRIER, None], "entry 1 must be a DecodePlan, a LaunchPlan or BARRIER, got NoneType"),
        (["plan"], "entry 0 must be a DecodePlan, a LaunchPlan or BARRIER, got str"),
        (5, "entries must be plans and BARRIER in their order, got int"),
        ({fm.BARRIER}, "entries must be plans and BARRIER in their order, got set"),
    ],
)
def test_entries_must_be_plans_and_barriers(entries, text):
    with pytest.raises(fm.errors.InvalidArgument) as caught:
        fm.DecodeStep(entries)
    assert str(caught.value) == f"Invalid argument: DecodeStep: {text}"


def test_entries_must_be_of_one_device(device, plan):
    small = fm.Device(max_threads=512)
    registry = fm.KernelRegistry(small)
    register(registry)
    with pytest.raises(fm.errors.InvalidArgument) as caught:
        fm.DecodeStep([plan, fm.BARRIER, plan_of(registry, buffers_of(small))])
    assert str(caught.value) == (
        f"Invalid argument: DecodeStep: entry 2 belongs to Metal device {small.registry_id}, "
        f"the entries before it to {device.registry_id}"
    )


def test_barrier_is_one_object():
    assert repr(fm.BARRIER) == "flashmetal.BARRIER"
    assert copy.deepcopy(fm.BARRIER) is fm.BARRIER
    assert pickle.loads(pickle.dumps(fm.BARRIER)) is fm.BARRIER


def test_repr_counts_the_entries(plan):
    assert repr(fm.DecodeStep([plan, fm.BARRIER])) == "<flashmetal.DecodeStep of 2 entries>"
