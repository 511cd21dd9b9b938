"""Contracts of decode attention: names, every check with its text, their order, offsets, routes."""

import gc
import inspect

import numpy as np
import pytest

import flashmetal as fm
from flashmetal import _host
from flashmetal.errors import InvalidArgument
from flashmetal.ops import (
    flash_attention,
    flash_attn_prefill_blk,
    flash_attn_prefill_simdgroup,
    flash_attn_prefill_tensor,
)
from flashmetal.ops.flash_attention import (
    FlashAttentionParams,
    encode_attention,
    encode_attention_q_offset,
    kernel_name,
    register,
    supports_head_dim,
)
from flashmetal.problems import DecodeShape, make_problem
from flashmetal.reference import compare, decode_reference

SHAPE = {"n_heads": 4, "n_kv_heads": 2, "head_dim": 64, "seq_len": 10}
CACHE_ROWS = 12
NAMES = ("q", "k_cache", "v_cache", "out")


@pytest.fixture
def registry(device):
    registry = fm.KernelRegistry(device)
    register(registry)
    return registry


def params_of(**changes):
    return FlashAttentionParams(**{**SHAPE, **changes})


def buffers_of(device, **changes):
    """Buffers that suit SHAPE, by name; changes replace some of them."""
    kv_shape = (CACHE_ROWS, SHAPE["n_kv_heads"], SHAPE["head_dim"])
    return {
        "q": device.alloc((4, 64), "f32"),
        "k_cache": device.alloc(kv_shape, "f16"),
        "v_cache": device.alloc(kv_shape, "f16"),
        "out": device.alloc((4, 64), "f32"),
        **changes,
    }


def refuse(device, registry, params, buffers, *offsets):
    """Encode, see it refused without a trace, and return the text after the operation's name."""
    encoder = device.encoder()
    encode = encode_attention_q_offset if offsets else encode_attention
    with pytest.raises(fm.errors.InvalidArgument) as caught:
        encode(encoder, registry, *buffers.values(), params, *offsets)
    assert (encoder.dispatch_count, encoder.command_buffer_count) == (0, 0)
    prefix = "Invalid argument: flash_attention: "
    assert str(caught.value).startswith(prefix)
    return str(caught.value).removeprefix(prefix)


# ---- names ---------------------------------------------------------------------------------------


@pytest.mark.parametrize("head_dim", range(4, 129, 4))
def test_specialised_kernels_serve_64_and_128(head_dim):
    expected = {64: "flash_attention_hd64", 128: "flash_attention_hd128"}
    assert kernel_name(head_dim) == expected.get(head_dim, "flash_attention")


@pytest.mark.parametrize("head_dim", [-4, 64.5, "64", None, 2**64])
@pytest.mark.parametrize("function", [kernel_name, supports_head_dim])
def test_head_dim_is_an_integer(function, head_dim):
    with pytest.raises(InvalidArgument, match="head_dim must be an integer from 0"):
        function(head_dim)


@pytest.mark.parametrize(
    "operation",
    [
        flash_attention,
        flash_attn_prefill_blk,
        flash_attn_prefill_simdgroup,
        flash_attn_prefill_tensor,
    ],
)
def test_register_wants_a_registry(device, operation):
    with pytest.raises(InvalidArgument, match="registry must be KernelRegistry, got Device"):
        operation.register(device)


@pytest.mark.parametrize(
    "dispatch",
    [
        flash_attn_prefill_blk.dispatch_flash_attn_prefill_blk,
        flash_attn_prefill_simdgroup.dispatch_flash_attn_prefill_simdgroup_f16,
        flash_attn_prefill_tensor.dispatch_flash_attn_prefill_tensor_f16,
    ],
)
def test_dispatches_want_an_encoder_and_a_registry(device, registry, dispatch):
    others = inspect.signature(dispatch).parameters.keys() - {"encoder", "registry"}
    arguments = dict.fromkeys(others)
    with pytest.raises(InvalidArgument, match="encoder must be CommandEncoder, got NoneType"):
        dispatch(encoder=None, registry=registry, **arguments)
    with pytest.raises(InvalidArgument, match="registry must be KernelRegistry, got Device"):
        dispatch(encoder=device.encoder(), registry=device, **arguments)


def test_register_registers_every_name(device):
    registry = fm.KernelRegistry(device)
    register(registry)
    register(registry)
    assert registry.source_count == 3
    registry.prewarm({kernel_name(head_dim) for head_dim in range(4, 129, 4)})
    assert registry.cached_count == 3


def test_kernels_that_are_not_registered_are_not_found(device):
    encoder, empty = device.encoder(), fm.KernelRegistry(device)
    buffers = buffers_of(device).values()
    with pytest.raises(fm.errors.KernelNotFound, match="Kernel not found: flash_attention_hd64"):
        encode_attention(encoder, empty, *buffers, params_of())
    assert encoder.command_buffer_count == 0


# ---- checks, in their order ----------------------------------------------------------------------


@pytest.mark.parametrize("head_dim", [130, 132, 256, 1, 2, 63, 126, 2**16])
def test_head_dim_must_be_a_multiple_of_4_up_to_128(device, registry, head_dim):
    params = params_of(head_dim=head_dim)
    text = f"requires head_dim ≤ 128 and divisible by 4, got {head_dim}"
    buffers = buffers_of(device)
    assert refuse(device, registry, params, buffers) == f"encode_attention {text}"
    assert refuse(device, registry, params, buffers, 0, 0) == f"encode_attention_q_offset {text}"


@pytest.mark.parametrize("field", ["n_heads", "n_kv_heads", "head_dim"])
def test_shape_must_not_be_empty(device, registry, field):
    params = params_of(**{field: 0})
    assert refuse(device, registry, params, buffers_of(device)) == f"empty shape {params}"


@pytest.mark.parametrize("heads", [(4, 3), (1, 2), (9, 2)])
def test_kv_heads_must_divide_heads(device, registry, heads):
    params = params_of(n_heads=heads[0], n_kv_heads=heads[1])
    assert refuse(device, registry, params, buffers_of(device)) == (
        f"n_heads {heads[0]} is not a multiple of n_kv_heads {heads[1]}"
    )


@pytest.mark.parametrize("dtype", ["f32", "f16", "bf16", "u8", "u16", "u32", "i32"])
@pytest.mark.parametrize("name", NAMES)
def test_dtypes_are_those_of_the_kernel(device, registry, name, dtype):
    wanted = {"q": "f32", "out": "f32"}.get(name, "f16")
    if dtype == wanted:
        return
    buffers = buffers_of(device, **{name: device.alloc((4, 64, 8), dtype)})
    assert refuse(device, registry, params_of(), buffers) == (
        f"{name} must be {wanted}, got {dtype}"
    )


@pytest.mark.parametrize("name", NAMES)
def test_arguments_must_be_buffers(device, registry, name):
    buffers = buffers_of(device, **{name: np.zeros((4, 64), np.float32)})
    assert refuse(device, registry, params_of(), buffers) == (
        f"{name} must be a Buffer, got ndarray; device.wrap(array) makes one of an array"
    )


def test_params_must_be_the_class(device, registry):
    assert refuse(device, registry, bytes(32), buffers_of(device)) == (
        "params must be FlashAttentionParams, got bytes"
    )


@pytest.mark.parametrize(
    ("name", "dtype", "needed"),
    [("q", "f32", 4 * 64 * 4), ("k_cache", "f16", 10 * 128 * 2), ("out", "f32", 4 * 64 * 4)],
)
def test_sizes_are_checked_to_the_byte(device, registry, name, dtype, needed):
    size = np.dtype({"f32": "f4", "f16": "f2"}[dtype]).itemsize
    whole = device.alloc(needed // size + 8, dtype)
    # The view is too small although its allocation is not.
    short = whole.view(0, needed // size - 1, dtype)
    assert refuse(device, registry, params_of(), buffers_of(device, **{name: short})) == (
        f"{name} holds {needed - size} bytes, the strides need {needed}"
    )
    encoder = device.encoder()
    exact = buffers_of(device, **{name: whole.view(0, needed // size, dtype)})
    encode_attention(encoder, registry, *exact.values(), params_of())


def test_sizes_are_exact_beyond_64_bits(device, registry):
    params = params_of(n_heads=2**24, n_kv_heads=2**24, head_dim=128, seq_len=2**32 - 1)
    # q is checked first: 2²⁴ heads of 128 floats.
    text = f"q holds 1024 bytes, the strides need {2**24 * 128 * 4}"
    assert refuse(device, registry, params, buffers_of(device)) == text
    params = params_of(n_heads=2, n_kv_heads=2, head_dim=128, seq_len=2**32 - 1)
    text = f"k_cache holds 3072 bytes, the strides need {(2**32 - 1) * 256 * 2}"
    assert refuse(device, registry, params, buffers_of(device)) == text


def test_empty_cache_needs_no_bytes(device, registry):
    one = device.alloc(1, "f16")
    buffers = buffers_of(device, k_cache=one, v_cache=one)
    np.asarray(buffers["out"])[...] = np.nan
    with device.encoder() as encoder:
        encode_attention(encoder, registry, *buffers.values(), params_of(seq_len=0))
    assert not np.asarray(buffers["out"]).any()


@pytest.mark.parametrize("q_offset", [0, 4, 1024])
@pytest.mark.parametrize("name", ["q", "out"])
def test_offset_variant_counts_its_offsets(device, registry, name, q_offset):
    large = device.alloc(4 * 64 + 1024, "f32")
    buffers = buffers_of(device, q=large, out=device.alloc(4 * 64 + 1024, "f32"))
    buffers[name] = buffers[name].view(0, 4 * 64, "f32")
    offsets = {"q": 0, "out": 0, name: q_offset}
    if q_offset == 0:
        encode_attention_q_offset(
            device.encoder(), registry, *buffers.values(), params_of(), *offsets.values()
        )
        return
    assert refuse(device, registry, params_of(), buffers, *offsets.values()) == (
        f"{name} holds 1024 bytes, the strides need {1024 + q_offset}"
    )


@pytest.mark.parametrize("value", [-1, 1.0, "4", None])
@pytest.mark.parametrize("name", ["q_off_bytes", "out_off_bytes"])
def test_offsets_must_be_integers_from_zero(device, registry, name, value):
    offsets = {"q_off_bytes": 0, "out_off_bytes": 0, name: value}
    assert refuse(device, registry, params_of(), buffers_of(device), *offsets.values()) == (
        f"{name} must be an integer from 0 to {2**63 - 1}, got {value!r}"
    )


@pytest.mark.parametrize(
    ("name", "offset", "alignment"),
    [("q", 2, 4), ("q", 1, 4), ("k_cache", 4, 8), ("v_cache", 2, 8), ("v_cache", 12, 8),
     ("out", 2, 4)],
)  # fmt: skip
def test_bound_offsets_suit_the_kernels_loads(device, registry, name, offset, alignment):
    dtype, count = ("f32", 4 * 64) if alignment == 4 else ("f16", 10 * 128)
    view = device.alloc(2 * count, dtype).view(offset, count, dtype)
    assert refuse(device, registry, params_of(), buffers_of(device, **{name: view})) == (
        f"{name} offset {offset} is not a multiple of {alignment}"
    )


@pytest.mark.parametrize("name", ["q", "out"])
def test_offset_variant_aligns_the_sum_of_offsets(device, registry, name):
    view = device.alloc(1024, "f32").view(8, 512, "f32")
    offsets = {"q": 0, "out": 0, name: 6}
    buffers = buffers_of(device, **{name: view})
    assert refuse(device, registry, params_of(), buffers, *offsets.values()) == (
        f"{name} offset 14 is not a multiple of 4"
    )


@pytest.mark.parametrize("name", ["q", "k_cache", "v_cache"])
def test_out_must_not_overlap_an_input(device, registry, name):
    arena = device.alloc(1 << 14, "u8")
    out = arena.view(4096, (4, 64), "f32")
    last_byte_before = {
        "q": arena.view(4096 - 1020, (4, 64), "f32"),
        "k_cache": arena.view(4096 - 2560 + 8, 1280, "f16"),
        "v_cache": arena.view(4096 + 1016, 1280, "f16"),
    }[name]
    text = refuse(
        device, registry, params_of(), buffers_of(device, out=out, **{name: last_byte_before})
    )
    assert text == f"out overlaps {name}"


def test_neighbours_in_one_allocation_do_not_overlap(device, registry):
    arena = device.alloc(1 << 14, "u8")
    views = {
        "q": arena.view(0, (4, 64), "f32"),
        "k_cache": arena.view(2048, 1280, "f16"),
        "v_cache": arena.view(2048 + 2560, 1280, "f16"),
        "out": arena.view(1024, (4, 64), "f32"),
    }
    with device.encoder() as encoder:
        encode_attention(encoder, registry, *views.values(), params_of())


def test_empty_cache_overlaps_nothing(device, registry):
    arena = device.alloc(1 << 14, "u8")
    out = arena.view(0, (4, 64), "f32")
    inside = arena.view(512, 1280, "f16")
    buffers = buffers_of(device, k_cache=inside, v_cache=inside, out=out)
    assert refuse(device, registry, params_of(), buffers) == "out overlaps k_cache"
    with device.encoder() as encoder:
        encode_attention(encoder, registry, *buffers.values(), params_of(seq_len=0))


def test_offset_variant_may_use_one_buffer_for_q_and_out(device, registry):
    both = device.alloc((2, 4, 64), "f32")
    buffers = buffers_of(device, q=both, out=both)
    assert refuse(device, registry, params_of(), buffers, 0, 1020) == "out overlaps q"
    with device.encoder() as encoder:
        encode_attention_q_offset(encoder, registry, *buffers.values(), params_of(), 0, 1024)


def test_out_must_be_writable(device, registry):
    array = np.zeros((4, 64), np.float32)
    array.flags.writeable = False
    for buffer in (device.wrap(array, copy=None), device.wrap(np.zeros((4, 64), "f4"), copy=True)):
        text = refuse(device, registry, params_of(), buffers_of(device, out=buffer))
        assert text == "out is read-only"


def test_read_only_inputs_are_fine(device, registry):
    array = np.zeros((4, 64), np.float32)
    array.flags.writeable = False
    buffers = buffers_of(device, q=device.wrap(array, copy=None))
    with device.encoder() as encoder:
        encode_attention(encoder, registry, *buffers.values(), params_of())


def test_pipeline_must_allow_256_threads():
    small = fm.Device(max_threads=128)
    registry = fm.KernelRegistry(small)
    register(registry)
    assert refuse(small, registry, params_of(), buffers_of(small)) == (
        "flash_attention_hd64: pipeline allows 128 threads per threadgroup, needs 256"
    )


def test_registry_of_another_device_is_refused(device, registry):
    other = fm.Device(max_threads=512)
    encoder = other.encoder()
    with pytest.raises(fm.errors.InvalidArgument) as caught:
        encode_attention(encoder, registry, *buffers_of(other).values(), params_of())
    assert str(caught.value) == (
        f"Invalid argument: kernel registry is bound to Metal device {device.registry_id}, "
        f"not {other.registry_id}"
    )


def test_checks_run_in_the_documented_order():
    """Each case is wrong in all that the cases after it are wrong in, too."""
    device = fm.Device(max_threads=128)
    registry = fm.KernelRegistry(device)
    register(registry)
    arena = device.alloc(1 << 14, "u8")
    frozen = device.wrap(np.zeros(1 << 14, np.uint8), copy=True)
    wrong_dtype = dict.fromkeys(NAMES, arena)
    short_q = {**wrong_dtype, "q": arena.view(2, 8, "f32")}
    short_k = {**wrong_dtype, "q": arena.view(2, 512, "f32"), "k_cache": arena.view(2, 8, "f16")}
    short_v = {**short_k, "k_cache": arena.view(2, 1280, "f16"), "v_cache": arena.view(2, 8, "f16")}
    short_out = {**short_v, "v_cache": short_k["k_cache"].view(0, 1, "f16"), "out": frozen}
    short_out["v_cache"] = arena.view(4, 1280, "f16")
    unaligned = {**short_out, "out": frozen.view(2, 512, "f32")}
    unaligned_k = {**unaligned, "q": arena.view(0, 512, "f32")}
    unaligned_v = {**unaligned_k, "k_cache": arena.view(0, 1280, "f16")}
    unaligned_out = {**unaligned_v, "v_cache": arena.view(0, 1280, "f16")}
    overlapping = {
        **unaligned_out,
        "q": frozen.view(0, 512, "f32"),
        "out": frozen.view(0, 256, "f32"),
    }
    read_only = {**overlapping, "q": arena.view(0, 512, "f32")}
    threads = {**read_only, "out": arena.view(8192, 256, "f32")}
    cases = [
        (
            params_of(head_dim=130, n_heads=0, n_kv_heads=3),
            wrong_dtype,
            "encode_attention requires",
        ),
        (params_of(n_heads=0, n_kv_heads=3), wrong_dtype, "empty shape"),
        (params_of(n_kv_heads=3), wrong_dtype, "n_heads 4 is not a multiple"),
        (params_of(), wrong_dtype, "q must be f32"),
        (params_of(), short_q, "q holds"),
        (params_of(), {**short_q, "q": short_k["q"]}, "k_cache must be f16"),
        (params_of(), short_k, "k_cache holds"),
        (params_of(), {**short_v, "v_cache": arena}, "v_cache must be f16"),
        (params_of(), short_v, "v_cache holds"),
        (params_of(), short_out, "out must be f32"),
        (params_of(), {**short_out, "out": frozen.view(2, 8, "f32")}, "out holds"),
        (params_of(), unaligned, "q offset 2"),
        (params_of(), unaligned_k, "k_cache offset 2"),
        (params_of(), unaligned_v, "v_cache offset 4"),
        (params_of(), unaligned_out, "out offset 2"),
        (params_of(), overlapping, "out overlaps q"),
        (params_of(), read_only, "out is read-only"),
        (params_of(), threads, "flash_attention_hd64: pipeline allows 128"),
    ]
    for params, buffers, text in cases:
        found = refuse(device, registry, params, buffers)
        assert found.startswith(text), found


# ---- what is encoded -----------------------------------------------------------------------------


def test_one_dispatch_without_a_barrier(device, registry):
    encoder = device.encoder()
    encode_attention(encoder, registry, *buffers_of(device).values(), params_of())
    assert (encoder.dispatch_count, encoder.barrier_count) == (1, 0)


def test_params_are_copied_when_encoded(device, registry):
    problem = make_problem(DecodeShape(4, 2, 64, 10))
    buffers = buffers_of(device)
    np.asarray(buffers["q"])[...] = problem.q
    np.asarray(buffers["k_cache"])[:10] = problem.k
    np.asarray(buffers["v_cache"])[:10] = problem.v
    params = params_of()
    with device.encoder() as encoder:
        encode_attention(encoder, registry, *buffers.values(), params)
        params.seq_len = 1
    reference = decode_reference(problem.q, problem.k, problem.v)
    assert compare(np.array(buffers["out"]), reference).within_bound


def test_offset_variant_reads_and_writes_at_its_offsets(device, registry):
    problem = make_problem(DecodeShape(4, 2, 64, 10), seed=3)
    q, out = device.alloc((3, 4, 64), "f32"), device.alloc((3, 4, 64), "f32")
    np.asarray(q)[1] = problem.q
    np.asarray(out)[...] = np.nan
    buffers = buffers_of(device, q=q, out=out)
    np.asarray(buffers["k_cache"])[:10] = problem.k
    np.asarray(buffers["v_cache"])[:10] = problem.v
    with device.encoder() as encoder:
        encode_attention_q_offset(encoder, registry, *buffers.values(), params_of(), 1024, 2048)
    reference = decode_reference(problem.q, problem.k, problem.v)
    assert compare(np.array(out)[2], reference).within_bound
    assert np.isnan(np.asarray(out)[:2]).all()


def test_given_scale_is_used(device, registry):
    problem = make_problem(DecodeShape(4, 2, 64, 10), seed=4)
    buffers = buffers_of(device)
    np.asarray(buffers["q"])[...] = problem.q
    np.asarray(buffers["k_cache"])[:10] = problem.k
    np.asarray(buffers["v_cache"])[:10] = problem.v
    with device.encoder() as encoder:
        encode_attention(encoder, registry, *buffers.values(), params_of(scale=0.7))
    reference = decode_reference(problem.q, problem.k, problem.v, float(np.float32(0.7)))
    assert compare(np.array(buffers["out"]), reference).within_bound


def test_refused_calls_keep_nothing_alive(device, registry):
    registry.prewarm([kernel_name(SHAPE["head_dim"])])
    before = _host.live_objects()
    for _ in range(50):
        refuse(device, registry, params_of(seq_len=1000), buffers_of(device))
    gc.collect()  # of the exceptions' tracebacks
    assert _host.live_objects() == before
