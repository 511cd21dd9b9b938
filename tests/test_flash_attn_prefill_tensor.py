"""Contracts of tensor prefill: names, every check with its text, their order, the probe."""

import gc

import numpy as np
import pytest

import flashmetal as fm
from flashmetal import _host, resources
from flashmetal.ops.flash_attn_prefill_tensor import (
    CACHE_ROWS_PER_STEP,
    K_TENSOR_F16_D256,
    K_TENSOR_F16_D512,
    FlashAttnPrefillTensorParams,
    dispatch_flash_attn_prefill_tensor_f16,
    flash_attn_prefill_tensor_available,
    kv_pad,
    queries_per_threadgroup,
    register,
    threadgroup_memory_bytes,
)

NAMES = ("q", "k", "v", "mask", "blk", "out")
KERNELS = {256: K_TENSOR_F16_D256, 512: K_TENSOR_F16_D512}
HEADS, KV_HEADS, ROWS, KV_PAD, HEAD_DIM = 4, 2, 40, 128, 256
SHAPE = {
    "rows": ROWS,
    "n_heads": HEADS,
    "n_kv_heads": KV_HEADS,
    "head_dim": HEAD_DIM,
    "kv_pad": KV_PAD,
    "q_row_stride": HEADS * HEAD_DIM,
    "q_head_stride": HEAD_DIM,
    "k_row_stride": KV_HEADS * HEAD_DIM,
    "k_head_stride": HEAD_DIM,
    "v_row_stride": KV_HEADS * HEAD_DIM,
    "v_head_stride": HEAD_DIM,
}
DTYPES = {"q": "f32", "k": "f16", "v": "f16", "mask": "f16", "blk": "u8", "out": "f32"}
COUNTS = {
    "q": ROWS * HEADS * HEAD_DIM,
    "k": KV_PAD * KV_HEADS * HEAD_DIM,
    "v": KV_PAD * KV_HEADS * HEAD_DIM,
    "mask": ROWS * KV_PAD,
    "blk": 2 * 2,
    "out": ROWS * HEADS * HEAD_DIM,
}
SIZES = {"f32": 4, "f16": 2, "u8": 1}
PREFIX = "Invalid argument: flash_attn_prefill_tensor: "
I32_MAX = 2**31 - 1


@pytest.fixture(scope="module")
def registry(device):
    registry = fm.KernelRegistry(device)
    register(registry)
    registry.prewarm(KERNELS.values())
    return registry


def params_of(**changes):
    return FlashAttnPrefillTensorParams(**{**SHAPE, **changes})


def buffers_of(device, **changes):
    """Buffers that suit SHAPE, by name; changes replace some of them."""
    made = {name: device.alloc(COUNTS[name], DTYPES[name]) for name in NAMES if name not in changes}
    return {name: changes.get(name, made.get(name)) for name in NAMES}


def refuse(registry, params, buffers, error=fm.errors.InvalidArgument):
    """Encode, see it refused without a trace, and return the text after the operation's name."""
    encoder = registry.device.encoder()
    with pytest.raises(error) as caught:
        dispatch_flash_attn_prefill_tensor_f16(encoder, registry, *buffers.values(), params)
    assert (encoder.dispatch_count, encoder.command_buffer_count) == (0, 0)
    assert str(caught.value).startswith(PREFIX)
    return str(caught.value).removeprefix(PREFIX)


# ---- names and constants -------------------------------------------------------------------------


def test_constants_are_those_of_the_kernels():
    assert CACHE_ROWS_PER_STEP == 64
    assert {width: queries_per_threadgroup(width) for width in KERNELS} == {256: 32, 512: 16}
    assert {width: threadgroup_memory_bytes(width) for width in KERNELS} == {256: 28816, 512: 22608}


@pytest.mark.parametrize(
    ("kv_len", "padded"),
    [(0, 0), (1, 64), (63, 64), (64, 64), (65, 128), (1281, 1344), (2**32 - 1, 2**32),
     (2**32 - 64, 2**32 - 64), (2**32 - 63, 2**32)],
)  # fmt: skip
def test_kv_pad_rounds_up_to_64_without_a_limit(kv_len, padded):
    assert kv_pad(kv_len) == padded


@pytest.mark.parametrize("head_dim", [0, 64, 80, 128, 192, 255, 257, 320, 576, 2**32 - 1])
def test_other_head_dims_are_refused_everywhere(device, registry, head_dim):
    text = f"unsupported head_dim {head_dim} (256 or 512)"
    assert refuse(registry, params_of(head_dim=head_dim), buffers_of(device)) == text
    for function in (
        queries_per_threadgroup,
        threadgroup_memory_bytes,
        lambda width: flash_attn_prefill_tensor_available(registry, device, width),
    ):
        with pytest.raises(fm.errors.InvalidArgument) as caught:
            function(head_dim)
        assert str(caught.value) == PREFIX + text


def test_register_registers_both_kernels(device):
    registry = fm.KernelRegistry(device)
    register(registry)
    register(registry)
    assert registry.source_count == 2


def test_kernels_that_are_not_registered_are_not_found(device):
    encoder, empty = device.encoder(), fm.KernelRegistry(device)
    with pytest.raises(fm.errors.KernelNotFound, match=f"Kernel not found: {K_TENSOR_F16_D256}"):
        dispatch_flash_attn_prefill_tensor_f16(
            encoder, empty, *buffers_of(device).values(), params_of()
        )
    assert encoder.command_buffer_count == 0


# ---- checks, in their order ----------------------------------------------------------------------


@pytest.mark.parametrize("field", ["rows", "n_heads", "n_kv_heads", "kv_pad"])
def test_shape_must_not_be_empty(device, registry, field):
    params = params_of(**{field: 0})
    assert refuse(registry, params, buffers_of(device)) == f"empty shape {params}"


@pytest.mark.parametrize("heads", [(4, 3), (1, 2), (9, 2)])
def test_kv_heads_must_divide_heads(device, registry, heads):
    params = params_of(n_heads=heads[0], n_kv_heads=heads[1])
    assert refuse(registry, params, buffers_of(device)) == (
        f"n_heads {heads[0]} is not a multiple of n_kv_heads {heads[1]}"
    )


@pytest.mark.parametrize("padded", [1, 63, 65, 100, 2**32 - 1])
def test_kv_pad_must_be_a_multiple_of_64(device, registry, padded):
    assert refuse(registry, params_of(kv_pad=padded), buffers_of(device)) == (
        f"kv_pad {padded} is not a multiple of 64"
    )


@pytest.mark.parametrize("field", [field for field in SHAPE if field != "head_dim"])
def test_dimensions_are_those_of_i32(device, registry, field):
    # 2³¹ heads and rows divide as the checks before demand.
    params = params_of(**{"n_heads": 2**31, "n_kv_heads": 1, field: 2**31})
    assert refuse(registry, params, buffers_of(device)) == f"a dimension exceeds i32: {params}"


@pytest.mark.parametrize("field", ["q_row_stride", "q_head_stride"])
@pytest.mark.parametrize("stride", [1, 2, 3, 1026, I32_MAX])
def test_q_strides_suit_float4_loads(device, registry, field, stride):
    assert refuse(registry, params_of(**{field: stride}), buffers_of(device)) == (
        "Q strides must be multiples of 4 (float4 loads)"
    )


@pytest.mark.parametrize(
    "field", ["k_row_stride", "k_head_stride", "v_row_stride", "v_head_stride"]
)
@pytest.mark.parametrize("stride", [1, 2, 3, 254])
def test_k_and_v_strides_suit_half4_loads(device, registry, field, stride):
    assert refuse(registry, params_of(**{field: stride}), buffers_of(device)) == (
        "K and V strides must be multiples of 4 (half4 loads)"
    )


@pytest.mark.parametrize("dtype", ["f32", "f16", "bf16", "u8", "u16", "u32", "i32"])
@pytest.mark.parametrize("name", NAMES)
def test_dtypes_are_those_of_the_kernel(device, registry, name, dtype):
    if dtype == DTYPES[name]:
        return
    buffers = buffers_of(device, **{name: device.alloc(COUNTS[name], dtype)})
    text = refuse(registry, params_of(), buffers)
    if name == "blk":
        size = buffers[name].data_byte_len
        expected = f"blk must be U8 with at least 4 bytes (bq 32, bk 64), got {dtype} {size} bytes"
    else:
        expected = f"{name} must be {DTYPES[name]}, got {dtype}"
    assert text == expected


@pytest.mark.parametrize("name", NAMES)
def test_arguments_must_be_buffers(device, registry, name):
    buffers = buffers_of(device, **{name: np.zeros(COUNTS[name], np.float32)})
    assert refuse(registry, params_of(), buffers) == (
        f"{name} must be a Buffer, got ndarray; device.wrap(array) makes one of an array"
    )


def test_params_must_be_the_class(device, registry):
    assert refuse(registry, bytes(48), buffers_of(device)) == (
        "params must be FlashAttnPrefillTensorParams, got bytes"
    )


@pytest.mark.parametrize("name", NAMES)
def test_sizes_are_checked_to_the_element(device, registry, name):
    count, size = COUNTS[name], SIZES[DTYPES[name]]
    whole = device.alloc(count + 8, DTYPES[name])
    # The view is too small although its allocation is not.
    short = buffers_of(device, **{name: whole.view(0, count - 1, DTYPES[name])})
    text = refuse(registry, params_of(), short)
    if name == "blk":
        assert text == "blk must be U8 with at least 4 bytes (bq 32, bk 64), got u8 3 bytes"
    else:
        needed = count * size
        assert text == f"{name} holds {needed - size} bytes, the strides need {needed}"
    exact = buffers_of(device, **{name: whole.view(0, count, DTYPES[name])})
    encoder = device.encoder()
    dispatch_flash_attn_prefill_tensor_f16(encoder, registry, *exact.values(), params_of())


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
def test_sizes_follow_the_strides(device, registry, name, strides, count):
    short = buffers_of(device, **{name: device.alloc(count - 1, DTYPES[name])})
    size = SIZES[DTYPES[name]]
    assert refuse(registry, params_of(**strides), short) == (
        f"{name} holds {(count - 1) * size} bytes, the strides need {count * size}"
    )


def test_sizes_are_exact_beyond_64_bits(device, registry):
    largest = I32_MAX // 64 * 64
    strides = {field: I32_MAX - 3 for field in SHAPE if field.endswith("stride")}
    params = params_of(rows=largest, n_heads=largest, n_kv_heads=1, kv_pad=largest, **strides)
    q = ((largest - 1) * (I32_MAX - 3) * 2 + 256) * 4
    assert refuse(registry, params, buffers_of(device)) == (
        f"q holds {COUNTS['q'] * 4} bytes, the strides need {q}"
    )
    nothing = dict.fromkeys(strides, 0)
    params = params_of(rows=largest, n_heads=largest, n_kv_heads=1, kv_pad=64, **nothing)
    out = largest * largest * 256 * 4
    mask = device.alloc(64, "f16")
    assert refuse(registry, params, buffers_of(device, mask=mask)) == (
        f"mask holds 128 bytes, the strides need {largest * 128}"
    )
    params = params_of(rows=1, n_heads=largest, n_kv_heads=1, kv_pad=64, **nothing)
    assert refuse(registry, params, buffers_of(device)) == (
        f"out holds {COUNTS['out'] * 4} bytes, the strides need {out // largest}"
    )


@pytest.mark.parametrize(
    ("name", "offset", "alignment"),
    [("q", 4, 16), ("q", 8, 16), ("k", 4, 8), ("v", 2, 8), ("mask", 6, 8), ("out", 12, 16)],
)
def test_bound_offsets_suit_the_kernels_loads(device, registry, name, offset, alignment):
    view = device.alloc(2 * COUNTS[name], DTYPES[name]).view(offset, COUNTS[name], DTYPES[name])
    assert refuse(registry, params_of(), buffers_of(device, **{name: view})) == (
        f"{name} offset {offset} is not a multiple of {alignment}"
    )


@pytest.mark.parametrize("name", NAMES)
def test_aligned_offsets_are_taken(device, registry, name):
    offset = {"q": 16, "out": 16, "blk": 1}.get(name, 8)
    view = device.alloc(2 * COUNTS[name], DTYPES[name]).view(offset, COUNTS[name], DTYPES[name])
    encoder = device.encoder()
    dispatch_flash_attn_prefill_tensor_f16(
        encoder, registry, *buffers_of(device, **{name: view}).values(), params_of()
    )


@pytest.mark.parametrize("name", [name for name in NAMES if name != "out"])
def test_out_must_not_overlap_an_input(device, registry, name):
    arena = device.alloc(1 << 20, "u8")
    start, end = 1 << 18, (1 << 18) + COUNTS["out"] * 4
    out = arena.view(start, COUNTS["out"], "f32")
    in_its_end = arena.view(end - 16, COUNTS[name], DTYPES[name])
    buffers = buffers_of(device, out=out, **{name: in_its_end})
    assert refuse(registry, params_of(), buffers) == f"out overlaps {name}"
    behind = arena.view(end, COUNTS[name], DTYPES[name])
    encoder = device.encoder()
    dispatch_flash_attn_prefill_tensor_f16(
        encoder, registry, *buffers_of(device, out=out, **{name: behind}).values(), params_of()
    )


def test_out_must_be_writable(device, registry):
    array = np.zeros(COUNTS["out"], np.float32)
    array.flags.writeable = False
    frozen = device.wrap(array, copy=None)
    assert refuse(registry, params_of(), buffers_of(device, out=frozen)) == "out is read-only"


def test_read_only_inputs_are_fine(device, registry):
    inputs = {}
    for name in NAMES[:-1]:
        array = np.zeros(COUNTS[name], {"f32": "f4", "f16": "f2", "u8": "u1"}[DTYPES[name]])
        array.flags.writeable = False
        inputs[name] = device.wrap(array, copy=None)
    with device.encoder() as encoder:
        dispatch_flash_attn_prefill_tensor_f16(
            encoder, registry, *buffers_of(device, **inputs).values(), params_of()
        )


def test_pipeline_must_allow_256_threads():
    small = fm.Device(max_threads=128)
    registry = fm.KernelRegistry(small)
    register(registry)
    assert refuse(registry, params_of(), buffers_of(small)) == (
        f"{K_TENSOR_F16_D256}: pipeline allows 128 threads per threadgroup, needs 256"
    )


def test_registry_of_another_device_is_refused(device, registry):
    other = fm.Device(max_threads=512)
    text = (
        f"Invalid argument: kernel registry is bound to Metal device {device.registry_id}, "
        f"not {other.registry_id}"
    )
    encoder = other.encoder()
    with pytest.raises(fm.errors.InvalidArgument) as caught:
        dispatch_flash_attn_prefill_tensor_f16(
            encoder, registry, *buffers_of(other).values(), params_of()
        )
    assert str(caught.value) == text
    with pytest.raises(fm.errors.InvalidArgument) as caught:
        flash_attn_prefill_tensor_available(registry, other, 256)
    assert str(caught.value) == text


def test_checks_run_in_the_documented_order():
    """Each case is wrong in all that the cases after it are wrong in, too."""
    device = fm.Device(max_threads=128)
    registry = fm.KernelRegistry(device)
    register(registry)
    arena = device.alloc(1 << 20, "u8")
    frozen = device.wrap(np.zeros(1 << 20, np.uint8), copy=True)

    def view(name, offset=0, count=None, of=arena):
        return of.view(offset, COUNTS[name] if count is None else count, DTYPES[name])

    wrong = {"k_row_stride": 514}
    buffers = dict.fromkeys(NAMES, arena)
    buffers["blk"] = frozen.view(0, 2, "f16")
    cases = [
        ({"head_dim": 128, "rows": 0, "n_kv_heads": 3, "kv_pad": 2**31 + 1, "q_row_stride": 2},
         {}, "unsupported head_dim 128"),
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
        ({"k_row_stride": 512}, {"out": view("out", 1 << 19)}, f"{K_TENSOR_F16_D256}: pipeline"),
    ]  # fmt: skip
    for changes, replaced, text in cases:
        buffers.update(replaced)
        found = refuse(registry, params_of(**{**wrong, **changes}), buffers)
        assert found.startswith(text), found


# ---- what is encoded -----------------------------------------------------------------------------


def test_one_dispatch_without_a_barrier(device, registry):
    encoder = device.encoder()
    dispatch_flash_attn_prefill_tensor_f16(
        encoder, registry, *buffers_of(device).values(), params_of()
    )
    assert (encoder.dispatch_count, encoder.barrier_count) == (1, 0)


def test_refused_calls_keep_nothing_alive(device, registry):
    before = _host.live_objects()
    for _ in range(20):
        refuse(registry, params_of(kv_pad=65), buffers_of(device))
        refuse(registry, params_of(rows=1000), buffers_of(device))
    gc.collect()  # of the exceptions' tracebacks
    assert _host.live_objects() == before


# ---- the probe -----------------------------------------------------------------------------------

SOURCE = resources.shader("flash_attn_prefill_tensor").read_text(encoding="utf-8")
TENSOR_OPTIONS = fm.CompileOptions(language_version="4.0")


@pytest.fixture
def without_api():
    device = fm.Device(tensor_api=False)
    registry = fm.KernelRegistry(device)
    register(registry)
    return registry


def available(registry, head_dim=256):
    return flash_attn_prefill_tensor_available(registry, registry.device, head_dim)


@pytest.mark.parametrize("head_dim", KERNELS)
def test_available_where_the_tensor_api_is(registry, head_dim):
    assert available(registry, head_dim)
    assert available(registry, head_dim)
    assert registry.is_cached(KERNELS[head_dim])


@pytest.mark.parametrize("head_dim", KERNELS)
def test_a_missing_header_is_a_verdict_that_is_remembered(without_api, head_dim, host):
    before = host.compile_count()
    assert not available(without_api, head_dim)
    assert host.compile_count() > before  # by a real compile, not for want of an artefact
    after = host.compile_count()
    assert not available(without_api, head_dim)
    assert host.compile_count() == after


def test_without_the_api_a_dispatch_says_what_is_missing(without_api):
    encoder = without_api.device.encoder()
    with pytest.raises(fm.errors.ShaderCompilationError) as caught:
        dispatch_flash_attn_prefill_tensor_f16(
            encoder, without_api, *buffers_of(without_api.device).values(), params_of()
        )
    assert "fatal error: 'metal_tensor' file not found" in caught.value.message
    assert encoder.command_buffer_count == 0


def test_kernels_that_are_not_registered_are_no_verdict(device):
    with pytest.raises(fm.errors.KernelNotFound):
        available(fm.KernelRegistry(device))


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("score_product.run(query, keys, scores);", "score_product.ran(query, keys, scores);"),
        ("#include <metal_tensor>", "#include <metal_tensors>"),
        ("mpp::tensor_ops", "mpp::tensor_operations"),
        ("threadgroup_barrier(", "undeclared_barrier("),
    ],
)
def test_a_broken_shader_is_an_error_that_is_not_remembered(device, before, after):
    assert before in SOURCE
    registry = fm.KernelRegistry(device)
    broken = SOURCE.replace(before, after)
    registry.register_source(K_TENSOR_F16_D256, broken, options=TENSOR_OPTIONS)
    for _ in range(2):
        with pytest.raises(fm.errors.ShaderCompilationError):
            available(registry)
    register(registry)
    assert available(registry)


def test_a_fault_of_the_compiler_is_not_remembered(device, host):
    registry = fm.KernelRegistry(device)
    register(registry)
    host.set_faults("pipeline:count=1")
    with pytest.raises(fm.errors.ShaderCompilationError):
        available(registry)
    assert available(registry)


def test_an_older_language_lacks_the_header(device):
    registry = fm.KernelRegistry(device)
    older = fm.CompileOptions(language_version="3.2")
    registry.register_source(K_TENSOR_F16_D256, SOURCE, options=older)
    assert not available(registry)
    assert not available(registry)
    # Other options are another registration, which forgets the verdict.
    register(registry)
    assert available(registry)


def test_with_the_api_the_shipped_library_serves(device):
    registry = fm.KernelRegistry(device)
    register(registry)
    before = _host.compile_count()
    assert available(registry, 256)
    assert available(registry, 512)
    assert _host.compile_count() == before


def test_the_text_is_compiled_as_it_is_shipped(device):
    registry = fm.KernelRegistry(device)
    options = fm.CompileOptions(language_version="4.0", macros={"UNSEEN": 1})
    registry.register_source(K_TENSOR_F16_D512, SOURCE, options=options)
    assert available(registry, 512)
