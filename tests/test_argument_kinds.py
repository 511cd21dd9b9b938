"""Arguments of a class that a function does not take: refused by name, before anything happens."""

import numpy as np
import pytest
from small_kernels import ADD

import flashmetal as fm
from flashmetal.errors import InvalidArgument, InvalidType
from flashmetal.ops import flash_attention as decode
from flashmetal.ops import flash_attn_prefill_blk as blk
from flashmetal.ops import flash_attn_prefill_simdgroup as simdgroup
from flashmetal.ops import flash_attn_prefill_tensor as tensor

NUMBERS = np.arange(2)
PARAMS = decode.FlashAttentionParams(1, 1, 64, 1)
Q, K = np.zeros((1, 2, 64), "f4"), np.zeros((4, 2, 64), "f2")

# By what the text says of them: the call, given a device, a registry and a pipeline.
CALLS = {
    "attention: device must be Device": lambda d, r, p, bad: fm.attention(Q, K, K, device=bad),
    "BufferWithOffset: buffer must be Buffer": lambda d, r, p, bad: fm.BufferWithOffset(bad, 0),
    "CommandEncoder: device must be Device": lambda d, r, p, bad: fm.CommandEncoder(bad),
    "DecodePlan: encoder must be CommandEncoder": lambda d, r, p, bad: decode_plan(d, r).encode(
        bad, 1
    ),
    "DecodePlan: registry must be KernelRegistry": lambda d, r, p, bad: decode_plan(d, bad),
    "DecodeStep: encoder must be CommandEncoder": lambda d, r, p, bad: fm.DecodeStep(
        [decode_plan(d, r)]
    ).encode(bad, 1),
    "KVCache: device must be Device": lambda d, r, p, bad: fm.KVCache(bad, 1, 1, 1, 64),
    "KernelRegistry: device must be Device": lambda d, r, p, bad: fm.KernelRegistry(bad),
    "LaunchPlan: encoder must be CommandEncoder": lambda d, r, p, bad: launch_plan(d, p).encode(
        bad
    ),
    "LaunchPlan: pipeline must be Pipeline": lambda d, r, p, bad: launch_plan(d, bad),
    "dispatch: pipeline must be Pipeline": lambda d, r, p, bad: d.encoder().dispatch(bad, {}, 1, 1),
    "flash_attention: encoder must be CommandEncoder": lambda d, r, p, bad: encode_attention(
        bad, r
    ),
    "flash_attention: params must be FlashAttentionParams": lambda d, r, p, bad: encode_attention(
        d.encoder(), r, bad
    ),
    "flash_attention: registry must be KernelRegistry": lambda d, r, p, bad: encode_attention(
        d.encoder(), bad
    ),
    "flash_attn_prefill_blk: params must be BlkParams": lambda d, r, p, bad: blk.blk_shape(bad),
    "get_pipeline: device must be Device": lambda d, r, p, bad: r.get_pipeline("add", device=bad),
    "get_pipeline: name must be str": lambda d, r, p, bad: r.get_pipeline(bad),
    "is_cached: name must be str": lambda d, r, p, bad: r.is_cached(bad),
    "probe_optional_pipeline: name must be str": lambda d, r, p, bad: r.probe_optional_pipeline(
        bad, bool
    ),
    "register_header: name must be str": lambda d, r, p, bad: r.register_header(bad, ""),
    "register_header: text must be str": lambda d, r, p, bad: r.register_header("a.h", bad),
    "register_source: name must be str": lambda d, r, p, bad: r.register_source(bad, ADD),
    "register_source: source must be str": lambda d, r, p, bad: r.register_source("add", bad),
}
# Those that None stands for something in.
OPTIONAL = ("attention: device", "get_pipeline: device")

FLAGS = {
    "Device: tensor_api": lambda d, p, bad: fm.Device(tensor_api=bad),
    "LaunchPlan: exact_threads": lambda d, p, bad: launch_plan(d, p, exact_threads=bad),
    "attention: causal": lambda d, p, bad: fm.attention(Q, K, K, causal=bad),
    "wrap: strict": lambda d, p, bad: d.wrap(np.zeros(4, "f4"), strict=bad),
}


@pytest.fixture
def registry(device):
    registry = fm.KernelRegistry(device)
    registry.register_source("add", ADD)
    decode.register(registry)
    return registry


@pytest.fixture
def add(registry):
    return registry.get_pipeline("add")


def launch_plan(device, pipeline, **options):
    words = device.alloc(64, "u32")
    return fm.LaunchPlan(pipeline, {0: words, 1: words, 2: bytes(4)}, 1, 1, **options)


def decode_plan(device, registry):
    token, rows = device.alloc(64, "f32"), device.alloc((2, 64), "f16")
    out = device.alloc(64, "f32")
    return fm.DecodePlan(registry, token, rows, rows, out, n_heads=1, n_kv_heads=1, head_dim=64)


def encode_attention(encoder, registry, params=PARAMS):
    decode.encode_attention(encoder, registry, None, None, None, None, params)


@pytest.mark.parametrize("text", CALLS)
def test_object_of_another_class_is_refused_by_name(device, registry, add, text):
    for bad in ("gpu", 5, NUMBERS, object, None):
        if bad is None and text.startswith(OPTIONAL):
            continue
        if isinstance(bad, str) and text.endswith("str"):
            continue
        with pytest.raises(InvalidType) as caught:
            CALLS[text](device, registry, add, bad)
        assert str(caught.value) == f"Invalid argument: {text}, got {type(bad).__name__}"


@pytest.mark.keeps_objects  # `attention` keeps its buffers
@pytest.mark.parametrize("text", FLAGS)
def test_flag_is_true_or_false(device, add, text):
    for bad in (NUMBERS, np.array(True), "no", None, 2, 1.0):
        with pytest.raises(InvalidType) as caught:
            FLAGS[text](device, add, bad)
        assert str(caught.value) == f"Invalid argument: {text} must be True or False, got {bad!r}"
    for good in (False, np.False_, 0):
        FLAGS[text](device, add, good)


def test_dlpack_takes_no_arrays_for_flags_and_devices(device):
    buffer = device.alloc(4, "f32")
    for bad in (NUMBERS, "no", 2):
        with pytest.raises(InvalidType, match="__dlpack__: copy must be True or False, got "):
            buffer.__dlpack__(copy=bad)
    for bad in (np.array([1, 0]), [1, 0], (2, 0), "cpu"):
        with pytest.raises(BufferError, match="memory is on the CPU: stream must be None and"):
            buffer.__dlpack__(dl_device=bad)
    assert buffer.__dlpack__(dl_device=(1, 0), copy=False)


@pytest.mark.parametrize("mode", [NUMBERS, None, 5, "sleep", b"auto"])
def test_mode_of_a_wait_is_one_of_three_words(device, mode):
    encoder = device.encoder()
    for wait in (encoder.wait, encoder.commit_and_wait):
        with pytest.raises(InvalidArgument) as caught:
            wait(mode=mode)
        text = f'{wait.__name__}: mode must be "block", "spin" or "auto", got '
        assert str(caught.value).startswith(f"Invalid argument: {text}")
    assert encoder.state == "open"


# By what the text begins with: calls whose texts say more of what may be given.
RICHER_CALLS = {
    "DecodeStep: entries must be plans": lambda d, r, p: fm.DecodeStep(5),
    "DecodeStep: entry 0 must be a DecodePlan": lambda d, r, p: fm.DecodeStep([NUMBERS]),
    "KVCache: layers must be an integer": lambda d, r, p: fm.KVCache(d, "1", 1, 1, 64),
    "add: args must be a dict": lambda d, r, p: d.encoder().dispatch(p, [], 1, 1),
    "add: argument 0 must be a Buffer": lambda d, r, p: d.encoder().dispatch(p, {0: NUMBERS}, 1, 1),
    "add: options must be flashmetal.CompileOptions": lambda d, r, p: r.register_source(
        "add", ADD, options={}
    ),
    "add: threadgroups must be an integer": lambda d, r, p: d.encoder().dispatch(p, {}, "1", 1),
    "attention: window must be an integer": lambda d, r, p: fm.attention(
        Q, K, K, causal=True, window="4"
    ),
    "flash_attention: q must be a Buffer": lambda d, r, p: encode_attention(d.encoder(), r),
    "flash_attention: scale must be a finite f32": lambda d, r, p: decode.FlashAttentionParams(
        1, 1, 64, 1, "0.5"
    ),
    "from_dlpack: device must be a flashmetal.Device": lambda d, r, p: fm.from_dlpack(
        NUMBERS, device="gpu"
    ),
    "prewarm: names must be a list of str": lambda d, r, p: r.prewarm("add"),
    "commit_and_wait: timeout must be None or seconds": lambda d, r, p: d.encoder().commit_and_wait(
        timeout="1"
    ),
    "wait: timeout must be None or seconds": lambda d, r, p: d.encoder().wait(timeout="1"),
    "wrap: obj must have the buffer protocol or DLPack": lambda d, r, p: d.wrap(5),
}


@pytest.mark.parametrize("text", RICHER_CALLS)
def test_object_of_another_class_is_an_invalid_type_whatever_the_text(device, registry, add, text):
    with pytest.raises(InvalidType) as caught:
        RICHER_CALLS[text](device, registry, add)
    assert str(caught.value).startswith(f"Invalid argument: {text}")


def test_constants_and_threadgroup_memory_are_dicts(device, registry, add):
    for bad in (NUMBERS, np.zeros((2, 3)), 5, False):
        with pytest.raises(InvalidArgument, match="add: constants must map indices"):
            registry.get_pipeline("add", bad)
    for bad in (NUMBERS, 5, False, ()):
        with pytest.raises(InvalidArgument, match="add: threadgroup_memory must be a dict"):
            device.encoder().dispatch(add, {}, 1, 1, bad)
    assert registry.get_pipeline("add", {}) is add


@pytest.mark.parametrize("operation", [simdgroup, tensor])
@pytest.mark.parametrize("head_dim", [NUMBERS, np.zeros(1, int), [64], "64", 64.0, None, {}])
def test_head_dim_is_an_integer(operation, head_dim):
    for function in (operation.queries_per_threadgroup, operation.threadgroup_memory_bytes):
        with pytest.raises(InvalidArgument, match="unsupported head_dim"):
            function(head_dim)


@pytest.mark.parametrize("name", ["q", "k"])
def test_list_is_told_how_to_become_an_array(name):
    arrays = {"q": Q, "k": K, "v": K}
    arrays[name] = arrays[name].tolist()
    wanted = {"q": "float32", "k": "float16"}[name]
    with pytest.raises(fm.errors.UnsupportedDtype) as caught:
        fm.attention(**arrays)
    assert f"which numpy.asarray({name}, '{wanted}') makes" in str(caught.value)


# Constructors, with what they name first of what is missing, and a call that lacks only the last.
INCOMPLETE_CALLS = {
    fm.BufferWithOffset: ("BufferWithOffset: buffer", lambda d, r, p: (d.alloc(4, "u8"),)),
    fm.CommandEncoder: ("CommandEncoder: device", lambda d, r, p: ()),
    fm.DecodePlan: ("DecodePlan: registry", lambda d, r, p: (r,)),
    fm.DecodeStep: ("DecodeStep: entries", lambda d, r, p: ()),
    fm.KVCache: ("KVCache: device", lambda d, r, p: (d, 1, 1, 1)),
    fm.KernelRegistry: ("KernelRegistry: device", lambda d, r, p: ()),
    fm.LaunchPlan: ("LaunchPlan: pipeline", lambda d, r, p: (p, {}, 1)),
    decode.FlashAttentionParams: ("flash_attention: n_heads", lambda d, r, p: (1, 1, 64)),
}


@pytest.mark.parametrize("kind", INCOMPLETE_CALLS, ids=lambda kind: kind.__name__)
def test_what_a_constructor_misses_is_named(device, registry, add, kind):
    text, arguments = INCOMPLETE_CALLS[kind]
    with pytest.raises(InvalidType, match=f"{text} must be .*got nothing"):
        kind()
    with pytest.raises(InvalidType, match=r"got nothing"):
        kind(*arguments(device, registry, add))
