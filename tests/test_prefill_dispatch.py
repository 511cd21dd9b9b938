"""Contracts of every prefill operation: each check with its text, in its order."""

import gc

import numpy as np
import pytest
from prefill_arguments import (
    COUNTS,
    DTYPES,
    HEAD_DIM,
    NAMES,
    SHAPE,
    SIZES,
    buffers_of,
    params_of,
    refuse,
)
from prefill_families import FAMILIES

import flashmetal as fm
from flashmetal import _host
from flashmetal.ops import flash_attn_prefill_blk

I32_MAX = 2**31 - 1


@pytest.fixture(params=FAMILIES, ids=lambda family: family.name)
def family(request):
    return request.param


@pytest.fixture
def registry(family, device):
    registry = fm.KernelRegistry(device)
    family.op.register(registry)
    return registry


@pytest.fixture
def kernel(family):
    """The name of the one that serves SHAPE."""
    return f"{family.name}_f16_d256"


# ---- checks, in their order ----------------------------------------------------------------------


@pytest.mark.parametrize("field", ["rows", "n_heads", "n_kv_heads", "kv_pad"])
def test_shape_must_not_be_empty(family, device, registry, field):
    params = params_of(family, **{field: 0})
    assert refuse(family, registry, params, buffers_of(device)) == f"empty shape {params}"


@pytest.mark.parametrize("heads", [(4, 3), (1, 2), (9, 2)])
def test_kv_heads_must_divide_heads(family, device, registry, heads):
    params = params_of(family, n_heads=heads[0], n_kv_heads=heads[1])
    assert refuse(family, registry, params, buffers_of(device)) == (
        f"n_heads {heads[0]} is not a multiple of n_kv_heads {heads[1]}"
    )


@pytest.mark.parametrize("padded", [1, 63, 65, 100, 2**32 - 1])
def test_kv_pad_must_be_a_multiple_of_64(family, device, registry, padded):
    assert refuse(family, registry, params_of(family, kv_pad=padded), buffers_of(device)) == (
        f"kv_pad {padded} is not a multiple of 64"
    )


@pytest.mark.parametrize("field", [field for field in SHAPE if field != "head_dim"])
def test_dimensions_are_those_of_i32(family, device, registry, field):
    # 2³¹ heads and rows divide as the checks before demand.
    params = params_of(family, **{"n_heads": 2**31, "n_kv_heads": 1, field: 2**31})
    assert (
        refuse(family, registry, params, buffers_of(device)) == f"a dimension exceeds i32: {params}"
    )


@pytest.mark.parametrize("field", ["q_row_stride", "q_head_stride"])
@pytest.mark.parametrize("stride", [1, 2, 3, 1026, I32_MAX])
def test_q_strides_suit_float4_loads(family, device, registry, field, stride):
    assert refuse(family, registry, params_of(family, **{field: stride}), buffers_of(device)) == (
        "Q strides must be multiples of 4 (float4 loads)"
    )


@pytest.mark.parametrize(
    "field", ["k_row_stride", "k_head_stride", "v_row_stride", "v_head_stride"]
)
@pytest.mark.parametrize("stride", [1, 2, 3, 254])
def test_k_and_v_strides_suit_half4_loads(family, device, registry, field, stride):
    assert refuse(family, registry, params_of(family, **{field: stride}), buffers_of(device)) == (
        "K and V strides must be multiples of 4 (half4 loads)"
    )


@pytest.mark.parametrize("dtype", ["f32", "f16", "bf16", "u8", "u16", "u32", "i32"])
@pytest.mark.parametrize("name", NAMES)
def test_dtypes_are_those_of_the_kernel(family, device, registry, name, dtype):
    if dtype == DTYPES[name]:
        return
    buffers = buffers_of(device, **{name: device.alloc(COUNTS[name], dtype)})
    text = refuse(family, registry, params_of(family), buffers)
    if name == "blk":
        size = buffers[name].data_byte_len
        expected = f"blk must be U8 with at least 4 bytes (bq 32, bk 64), got {dtype} {size} bytes"
    else:
        expected = f"{name} must be {DTYPES[name]}, got {dtype}"
    assert text == expected


@pytest.mark.parametrize("name", NAMES)
def test_arguments_must_be_buffers(family, device, registry, name):
    buffers = buffers_of(device, **{name: np.zeros(COUNTS[name], np.float32)})
    assert refuse(family, registry, params_of(family), buffers) == (
        f"{name} must be a Buffer, got ndarray; device.wrap(array) makes one of an array"
    )


def test_params_must_be_the_class(family, device, registry):
    assert refuse(family, registry, bytes(48), buffers_of(device)) == (
        f"params must be {family.params.__name__}, got bytes"
    )


@pytest.mark.parametrize("name", NAMES)
def test_sizes_are_checked_to_the_element(family, device, registry, name):
    count, size = COUNTS[name], SIZES[DTYPES[name]]
    whole = device.alloc(count + 8, DTYPES[name])
    # The view is too small although its allocation is not.
    short = buffers_of(device, **{name: whole.view(0, count - 1, DTYPES[name])})
    text = refuse(family, registry, params_of(family), short)
    if name == "blk":
        assert text == "blk must be U8 with at least 4 bytes (bq 32, bk 64), got u8 3 bytes"
    else:
        needed = count * size
        assert text == f"{name} holds {needed - size} bytes, the strides need {needed}"
    exact = buffers_of(device, **{name: whole.view(0, count, DTYPES[name])})
    encoder = device.encoder()
    family.dispatch(encoder, registry, *exact.values(), params_of(family))


@pytest.mark.parametrize(
    ("name", "strides", "count"),
    [
        ("q", {"q_row_stride": 8192}, 39 * 8192 + 3 * 256 + 256),
        ("q", {"q_head_stride": 8192}, 39 * 1024 + 3 * 8192 + 256),
        ("k", {"k_row_stride": 0}, 0 + 256 + 256),
        ("k", {"k_head_stride": 8192}, 127 * 512 + 8192 + 256),
        ("v", {"v_row_stride": 8192}, 127 * 8192 + 256 + 256),
        ("v", {"v_head_stride": 0}, 127 * 512 + 256),
    ],
)
def test_sizes_follow_the_strides(family, device, registry, name, strides, count):
    short = buffers_of(device, **{name: device.alloc(count - 1, DTYPES[name])})
    size = SIZES[DTYPES[name]]
    assert refuse(family, registry, params_of(family, **strides), short) == (
        f"{name} holds {(count - 1) * size} bytes, the strides need {count * size}"
    )


def test_sizes_are_exact_beyond_64_bits(family, device, registry):
    largest = I32_MAX // 64 * 64
    strides = {field: I32_MAX - 3 for field in SHAPE if field.endswith("stride")}
    params = params_of(
        family, rows=largest, n_heads=largest, n_kv_heads=1, kv_pad=largest, **strides
    )
    q = ((largest - 1) * (I32_MAX - 3) * 2 + 256) * 4
    assert refuse(family, registry, params, buffers_of(device)) == (
        f"q holds {COUNTS['q'] * 4} bytes, the strides need {q}"
    )
    nothing = dict.fromkeys(strides, 0)
    params = params_of(family, rows=largest, n_heads=largest, n_kv_heads=1, kv_pad=64, **nothing)
    out = largest * largest * 256 * 4
    mask = device.alloc(64, "f16")
    assert refuse(family, registry, params, buffers_of(device, mask=mask)) == (
        f"mask holds 128 bytes, the strides need {largest * 128}"
    )
    params = params_of(family, rows=1, n_heads=largest, n_kv_heads=1, kv_pad=64, **nothing)
    assert refuse(family, registry, params, buffers_of(device)) == (
        f"out holds {COUNTS['out'] * 4} bytes, the strides need {out // largest}"
    )


@pytest.mark.parametrize(
    ("name", "offset", "alignment"),
    [("q", 4, 16), ("q", 8, 16), ("k", 4, 8), ("v", 2, 8), ("mask", 6, 8), ("out", 12, 16)],
)
def test_bound_offsets_suit_the_kernels_loads(family, device, registry, name, offset, alignment):
    view = device.alloc(2 * COUNTS[name], DTYPES[name]).view(offset, COUNTS[name], DTYPES[name])
    assert refuse(family, registry, params_of(family), buffers_of(device, **{name: view})) == (
        f"{name} offset {offset} is not a multiple of {alignment}"
    )


@pytest.mark.parametrize("name", NAMES)
def test_aligned_offsets_are_taken(family, device, registry, name):
    offset = {"q": 16, "out": 16, "blk": 1}.get(name, 8)
    view = device.alloc(2 * COUNTS[name], DTYPES[name]).view(offset, COUNTS[name], DTYPES[name])
    encoder = device.encoder()
    family.dispatch(
        encoder, registry, *buffers_of(device, **{name: view}).values(), params_of(family)
    )


@pytest.mark.parametrize("name", [name for name in NAMES if name != "out"])
def test_out_must_not_overlap_an_input(family, device, registry, name):
    arena = device.alloc(1 << 20, "u8")
    start, end = 1 << 18, (1 << 18) + COUNTS["out"] * 4
    out = arena.view(start, COUNTS["out"], "f32")
    in_its_end = arena.view(end - 16, COUNTS[name], DTYPES[name])
    buffers = buffers_of(device, out=out, **{name: in_its_end})
    assert refuse(family, registry, params_of(family), buffers) == f"out overlaps {name}"
    behind = arena.view(end, COUNTS[name], DTYPES[name])
    encoder = device.encoder()
    family.dispatch(
        encoder,
        registry,
        *buffers_of(device, out=out, **{name: behind}).values(),
        params_of(family),
    )


def test_out_must_be_writable(family, device, registry):
    array = np.zeros(COUNTS["out"], np.float32)
    array.flags.writeable = False
    frozen = device.wrap(array, copy=None)
    assert (
        refuse(family, registry, params_of(family), buffers_of(device, out=frozen))
        == "out is read-only"
    )


def test_read_only_inputs_are_fine(family, device, registry):
    inputs = {}
    for name in NAMES[:-1]:
        array = np.zeros(COUNTS[name], {"f32": "f4", "f16": "f2", "u8": "u1"}[DTYPES[name]])
        array.flags.writeable = False
        inputs[name] = device.wrap(array, copy=None)
    with device.encoder() as encoder:
        family.dispatch(
            encoder, registry, *buffers_of(device, **inputs).values(), params_of(family)
        )


def test_pipeline_must_allow_256_threads(family, kernel):
    small = fm.Device(max_threads=128)
    registry = fm.KernelRegistry(small)
    family.op.register(registry)
    assert refuse(family, registry, params_of(family), buffers_of(small)) == (
        f"{kernel}: pipeline allows 128 threads per threadgroup, needs 256"
    )


def test_registry_of_another_device_is_refused(family, device, registry):
    other = fm.Device(max_threads=512)
    text = (
        f"Invalid argument: kernel registry is bound to Metal device {device.registry_id}, "
        f"not {other.registry_id}"
    )
    encoder = other.encoder()
    with pytest.raises(fm.errors.InvalidArgument) as caught:
        family.dispatch(encoder, registry, *buffers_of(other).values(), params_of(family))
    assert str(caught.value) == text
    with pytest.raises(fm.errors.InvalidArgument) as caught:
        family.available(registry, other, 256)
    assert str(caught.value) == text


def test_checks_run_in_the_documented_order(family, kernel):
    """Each case is wrong in all that the cases after it are wrong in, too."""
    device = fm.Device(max_threads=128)
    registry = fm.KernelRegistry(device)
    family.op.register(registry)
    arena = device.alloc(1 << 20, "u8")
    frozen = device.wrap(np.zeros(1 << 20, np.uint8), copy=True)

    def view(name, offset=0, count=None, of=arena):
        return of.view(offset, COUNTS[name] if count is None else count, DTYPES[name])

    wrong = {"k_row_stride": 514}
    buffers = dict.fromkeys(NAMES, arena)
    buffers["blk"] = frozen.view(0, 2, "f16")
    cases = [
        ({"head_dim": 130, "rows": 0, "n_kv_heads": 3, "kv_pad": 2**31 + 1, "q_row_stride": 2},
         {}, "unsupported head_dim 130"),
        ({"rows": 0, "n_kv_heads": 3, "kv_pad": 2**31 + 1, "q_row_stride": 2}, {}, "empty shape"),
        ({"n_kv_heads": 3, "kv_pad": 2**31 + 1, "q_row_stride": 2}, {}, "n_heads 4 is not a mult"),
        ({"kv_pad": 2**31 + 1, "q_row_stride": 2}, {}, "kv_pad 2147483649 is not a multiple"),
        ({"kv_pad": 2**31, "q_row_stride": 2}, {}, "a dimension exceeds i32"),
        ({"q_row_stride": 1026}, {}, "Q strides"),
        ({}, {}, "q must be f32"),
        ({}, {"q": view("q", 4, 8)}, "q holds"),
        ({}, {"q": view("q", 4)}, "k must be f16"),
        ({}, {"k": view("k", 4, 8)}, "k holds"),
        ({}, {"k": view("k", 4, 2 * COUNTS["k"])}, "v must be f16"),
        ({}, {"v": view("v", 4, 8)}, "v holds"),
        ({}, {"v": view("v", 4)}, "mask must be f16"),
        ({}, {"mask": view("mask", 4, 8)}, "mask holds"),
        ({}, {"mask": view("mask", 4)}, "out must be f32"),
        ({}, {"out": view("out", 4, 8, frozen)}, "out holds"),
        ({}, {"out": view("out", 4, of=frozen)}, "blk must be U8"),
        ({}, {"blk": view("blk", 0, 2, frozen)}, "blk must be U8"),
        ({}, {"blk": view("blk", 0, of=frozen)}, "q offset 4"),
        ({}, {"q": view("q", 0, of=frozen)}, "k offset 4"),
        ({}, {"k": view("k", 0, 2 * COUNTS["k"], of=frozen)}, "v offset 4"),
        ({}, {"v": view("v", 0, of=frozen)}, "mask offset 4"),
        ({}, {"mask": view("mask", 0, of=frozen)}, "out offset 4"),
        ({}, {"out": view("out", 0, of=frozen)}, "K and V strides"),
        ({"k_row_stride": 512}, {}, "out overlaps q"),
        ({"k_row_stride": 512}, {"q": view("q")}, "out overlaps k"),
        ({"k_row_stride": 512}, {"k": view("k")}, "out overlaps v"),
        ({"k_row_stride": 512}, {"v": view("v")}, "out overlaps mask"),
        ({"k_row_stride": 512}, {"mask": view("mask")}, "out overlaps blk"),
        ({"k_row_stride": 512}, {"blk": view("blk")}, "out is read-only"),
        ({"k_row_stride": 512}, {"out": view("out", 1 << 19)}, f"{kernel}: pipeline"),
    ]  # fmt: skip
    for changes, replaced, text in cases:
        buffers.update(replaced)
        found = refuse(family, registry, params_of(family, **{**wrong, **changes}), buffers)
        assert found.startswith(text), found


# ---- what is encoded -----------------------------------------------------------------------------


def test_one_dispatch_without_a_barrier(family, device, registry):
    encoder = device.encoder()
    family.dispatch(encoder, registry, *buffers_of(device).values(), params_of(family))
    assert (encoder.dispatch_count, encoder.barrier_count) == (1, 0)


def test_refused_calls_keep_nothing_alive(family, device, registry):
    before = _host.live_objects()
    for _ in range(20):
        refuse(family, registry, params_of(family, kv_pad=65), buffers_of(device))
        refuse(family, registry, params_of(family, rows=1000), buffers_of(device))
    gc.collect()  # of the exceptions' tracebacks
    assert _host.live_objects() == before


@pytest.mark.parametrize("other", [None, "registry", 5], ids=repr)
def test_questions_about_no_registry_are_refused(device, family, other):
    with pytest.raises(fm.errors.InvalidArgument, match="registry must be KernelRegistry"):
        family.available(other, device, HEAD_DIM)


@pytest.mark.parametrize("head_dim", [None, "64", 64.0, 1.5, -4, 2**70], ids=repr)
def test_questions_about_no_head_dim_are_refused(family, head_dim):
    for question in (family.op.queries_per_threadgroup, family.op.threadgroup_memory_bytes):
        with pytest.raises(fm.errors.InvalidArgument, match="unsupported head_dim"):
            question(head_dim)


@pytest.mark.parametrize("other", [None, "params", 5], ids=repr)
def test_tiles_of_no_params_are_refused(other):
    for question in (flash_attn_prefill_blk.blk_shape, flash_attn_prefill_blk.blk_buffer_byte_len):
        with pytest.raises(fm.errors.InvalidArgument, match="params must be BlkParams"):
            question(other)
