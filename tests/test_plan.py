"""LaunchPlan: the checks of a dispatch, done once; patches; what makes a plan wrong later."""

import numpy as np
import pytest
from small_kernels import ADD, HEADER, SHARED

import flashmetal as fm
from flashmetal import _host

DELTA = (5).to_bytes(4, "little")

# Writes the words and the float of its struct, so that a test sees what was packed.
FIELDS = (
    HEADER
    + """
struct Fields { uint count; int shift; float factor; uint tail[5]; };
kernel void fields(device uint *out [[buffer(0)]], constant Fields &fields [[buffer(3)]],
                   uint i [[thread_position_in_grid]]) {
    uint words[] = {fields.count, uint(fields.shift), as_type<uint>(fields.factor)};
    out[i] = i < 3 ? words[i] : fields.tail[i - 3];
}
"""
)


@pytest.fixture
def registry(device):
    registry = fm.KernelRegistry(device)
    for name, text in {"add": ADD, "shared_sum": SHARED, "fields": FIELDS}.items():
        registry.register_source(name, text)
    return registry


@pytest.fixture
def add(registry):
    return registry.get_pipeline("add")


@pytest.fixture
def buffers(device):
    """``in`` 0, 1, 2, … and ``out``, 64 words each."""
    source, out = device.alloc(64, "u32"), device.alloc(64, "u32")
    np.asarray(source)[:] = np.arange(64)
    return source, out


@pytest.fixture
def plan(add, buffers):
    return fm.LaunchPlan(add, {0: buffers[0], 1: buffers[1], 2: DELTA}, 2, 32)


@pytest.fixture
def packed(device, registry):
    """A plan that shows its struct, and the words that it shows."""
    out = device.alloc(8, "u32")
    plan = fm.LaunchPlan(registry.get_pipeline("fields"), {0: out, 3: bytes(32)}, 1, 8)
    return plan, np.asarray(out)


def run(plan):
    with plan.device.encoder() as encoder:
        plan.encode(encoder)


# ---- encoding ------------------------------------------------------------------------------------


def test_plan_does_what_the_dispatch_does(plan, buffers):
    run(plan)
    assert np.array_equal(np.asarray(buffers[1]), np.arange(64) + 5)


def test_plan_keeps_copies_of_bytes(device, add, buffers):
    value = bytearray(DELTA)
    plan = fm.LaunchPlan(add, {0: buffers[0], 1: buffers[1], 2: value}, 2, 32)
    value.clear()
    run(plan)
    assert np.asarray(buffers[1])[0] == 5


def test_plan_keeps_pipeline_and_buffers(device):
    registry = fm.KernelRegistry(device)
    registry.register_source("add", ADD)
    source, out = device.alloc(64, "u32"), device.alloc(64, "u32")
    plan = fm.LaunchPlan(registry.get_pipeline("add"), {0: source, 1: out, 2: DELTA}, 2, 32)
    result = np.asarray(out)
    del registry, source, out
    run(plan)
    assert result.tolist() == [5] * 64


def test_plan_takes_threadgroup_memory(registry, buffers):
    source, out = buffers
    plan = fm.LaunchPlan(
        registry.get_pipeline("shared_sum"), {0: source, 1: out}, (2,), (32,), {0: 128}
    )
    run(plan)
    assert np.asarray(out)[:2].tolist() == [sum(range(32)), sum(range(32, 64))]


def test_plan_takes_an_exact_number_of_threads(add, buffers):
    source, out = buffers
    args = {0: source, 1: out, 2: DELTA}
    run(fm.LaunchPlan(add, args, 40, 32, exact_threads=True))
    assert np.array_equal(np.asarray(out)[:40], np.arange(40) + 5)
    assert not np.asarray(out)[40:].any()


def test_plan_binds_at_offsets(device, add, buffers):
    source, out = buffers
    view = source.view(64, 16, "u32")
    args = {0: (view, 16), 1: fm.BufferWithOffset(out, 4), 2: DELTA}
    run(fm.LaunchPlan(add, args, 1, 8))
    assert np.asarray(out)[1:9].tolist() == [25, 26, 27, 28, 29, 30, 31, 32]


def test_plan_mixes_with_dispatches(device, add, plan, buffers):
    _, out = buffers
    with device.encoder() as encoder:
        plan.encode(encoder)
        encoder.memory_barrier()
        encoder.dispatch(add, {0: out, 1: out, 2: DELTA}, 2, 32)
    assert np.array_equal(np.asarray(out), np.arange(64) + 10)
    assert (encoder.dispatch_count, encoder.barrier_count) == (2, 1)


def test_repr_and_attributes(device, add, plan):
    assert plan.pipeline is add
    assert plan.device is device
    assert repr(plan) == f"<flashmetal.LaunchPlan of 'add' on {device.name}>"


# ---- checks --------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("changes", "sizes", "text"),
    [
        ({}, (0, 32), "add: threadgroups must be an integer from 1 to 4294967295, got 0"),
        ({}, (1, 2000), "add: 2000 × 1 × 1 threads per threadgroup, the pipeline allows 1024"),
        ({3: DELTA}, (1, 32), "add: the kernel declares no argument 3, only 0, 1, 2"),
        ({1: bytes(64)}, (1, 32), "add: the kernel writes argument 1, but bytes are copied"),
        ({2: bytes(4097)}, (1, 32), "add: argument 2 has 4097 bytes, which must be 1 to 4096"),
        ({2: 5}, (1, 32), "add: argument 2 must be a Buffer, (Buffer, offset), BufferWithOffset"),
    ],
)
def test_plan_is_checked_as_a_dispatch_is(add, buffers, changes, sizes, text):
    args = {0: buffers[0], 1: buffers[1], 2: DELTA, **changes}
    with pytest.raises(fm.errors.InvalidArgument) as caught:
        fm.LaunchPlan(add, args, *sizes)
    assert str(caught.value).startswith(f"Invalid argument: {text}")


def test_plan_of_a_missing_argument_is_refused(add, buffers):
    with pytest.raises(fm.errors.InvalidArgument, match="add: argument 2 is not given"):
        fm.LaunchPlan(add, {0: buffers[0], 1: buffers[1]}, 1, 32)


def test_pipeline_must_be_one():
    with pytest.raises(TypeError):
        fm.LaunchPlan("add", {}, 1, 1)


def test_buffers_of_another_device_are_refused(add, buffers):
    foreign = fm.Device(max_threads=512).alloc(64, "u32")
    with pytest.raises(fm.errors.InvalidArgument, match="add: a buffer belongs to Metal device"):
        fm.LaunchPlan(add, {0: buffers[0], 1: foreign, 2: DELTA}, 1, 32)


# ---- what makes a plan wrong ---------------------------------------------------------------------


def test_encoder_of_another_device_is_refused(device, plan):
    other = fm.Device(max_threads=512)
    encoder = other.encoder()
    with pytest.raises(fm.errors.InvalidArgument) as caught:
        plan.encode(encoder)
    assert str(caught.value) == (
        f"Invalid argument: add: the plan belongs to Metal device {device.registry_id}, "
        f"the encoder to {other.registry_id}"
    )
    assert encoder.command_buffer_count == 0


def test_encoder_of_an_equal_device_is_taken(plan, buffers):
    with fm.Device().encoder() as encoder:
        plan.encode(encoder)
    assert np.asarray(buffers[1])[63] == 68


def test_released_buffer_is_noticed(device, plan, buffers):
    encoder, other = device.encoder(), device.alloc(64, "u32")
    other.release()
    plan.encode(encoder)
    buffers[1].release()
    for _ in range(2):
        with pytest.raises(fm.errors.InvalidState) as caught:
            plan.encode(encoder)
        assert str(caught.value) == (
            "Invalid state: add: the buffer of argument 1 is released: its memory is given back"
        )
    assert encoder.dispatch_count == 1
    encoder.commit_and_wait()


@pytest.mark.parametrize("end", ["commit", "commit_and_wait", "discard"])
def test_encoder_that_is_at_its_end_is_refused(device, plan, buffers, end):
    encoder = device.encoder("step")
    plan.encode(encoder)
    getattr(encoder, end)()
    state = "discarded" if end == "discard" else "committed already"
    with pytest.raises(fm.errors.InvalidState, match=f"encoder 'step' is {state}"):
        plan.encode(encoder)
    assert encoder.dispatch_count == 1
    assert _host.quiesce()


@pytest.mark.parametrize("value", [None, "encoder", 5])
def test_encoder_must_be_one(plan, value):
    with pytest.raises(TypeError):
        plan.encode(value)


# ---- patches -------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("value", "word"),
    [
        (0, 0),
        (2**32 - 1, 2**32 - 1),
        (-1, 2**32 - 1),
        (-(2**31), 2**31),
        (np.int64(7), 7),
        (np.uint8(255), 255),
        (1.0, 0x3F800000),
        (-0.0, 0x80000000),
        (0.1, 0x3DCCCCCD),
        (np.float32(0.1), 0x3DCCCCCD),
        (np.float64(2.0), 0x40000000),
        (float("inf"), 0x7F800000),
        (3.4028235e38, 0x7F7FFFFF),
        (b"\x01\x02\x03\x04", 0x04030201),
        (bytearray(b"\xff\x00\x00\x00"), 255),
        (memoryview(np.array([9], np.uint32)), 9),
    ],
)
@pytest.mark.parametrize("position", [0, 7])
def test_patch_writes_what_the_value_is(packed, position, value, word):
    plan, words = packed
    plan.patch(3, 4 * position, value)
    run(plan)
    expected = [0] * 8
    expected[position] = word
    assert words.tolist() == expected


def test_patch_may_write_a_whole_struct(packed):
    plan, words = packed
    plan.patch(3, 4, np.arange(1, 8, dtype=np.uint32).tobytes())
    plan.patch(3, 31, b"\x01")
    run(plan)
    assert words.tolist() == [0, 1, 2, 3, 4, 5, 6, 7 + (1 << 24)]


def test_patch_reaches_later_encodes_only(device, plan, buffers):
    _, out = buffers
    with device.encoder() as encoder:
        plan.encode(encoder)
        plan.patch(2, 0, 1000)
    assert np.asarray(out)[0] == 5
    run(plan)
    assert np.asarray(out)[0] == 1000


@pytest.mark.parametrize(
    "value", [2**32, -(2**31) - 1, 2**70, -(2**70), np.uint64(2**40), np.zeros(2)]
)
def test_int_of_more_than_32_bits_is_refused(packed, value):
    with pytest.raises(fm.errors.InvalidArgument, match=r"fields: a patch must be an integer from"):
        packed[0].patch(3, 0, value)


@pytest.mark.parametrize("value", [3.5e38, -1e300, np.float64(1e39)])
def test_float_that_f32_has_not_is_refused(packed, value):
    with pytest.raises(fm.errors.InvalidArgument, match="fields: a patch must fit f32, got"):
        packed[0].patch(3, 0, value)


@pytest.mark.parametrize("value", [True, np.bool_(True), "1", None, 1j, [1]])
def test_values_of_other_types_are_refused(packed, value):
    with pytest.raises(fm.errors.InvalidArgument) as caught:
        packed[0].patch(3, 0, value)
    assert str(caught.value) == (
        f"Invalid argument: fields: a patch must be an int, a float or bytes, got {value!r}; "
        "fields of other types, bool included, are given as bytes"
    )


@pytest.mark.parametrize(
    ("offset", "value", "text"),
    [
        (29, 1, "bytes 29 to 33 are not inside the 32 bytes of argument 3"),
        (32, 1.0, "bytes 32 to 36 are not inside the 32 bytes of argument 3"),
        (30, b"123", "bytes 30 to 33 are not inside the 32 bytes of argument 3"),
        (2**62, 1, f"bytes {2**62} to {2**62 + 4} are not inside the 32 bytes of argument 3"),
        (-1, 1, f"byte_offset must be an integer from 0 to {2**63 - 1}, got -1"),
        (2**64, 1, f"byte_offset must be an integer from 0 to {2**63 - 1}, got {2**64}"),
        (1.0, 1, f"byte_offset must be an integer from 0 to {2**63 - 1}, got 1.0"),
    ],
)
def test_patch_stays_inside_the_bytes(packed, offset, value, text):
    plan, words = packed
    with pytest.raises(fm.errors.InvalidArgument) as caught:
        plan.patch(3, offset, value)
    assert str(caught.value) == f"Invalid argument: fields: {text}"
    run(plan)
    assert not words.any()


@pytest.mark.parametrize(
    ("index", "text"),
    [
        (0, "argument 0 is a buffer, and only bytes are patched"),
        (1, "the plan has no argument 1"),
        (31, "argument index must be an integer from 0 to 30, got 31"),
        ("3", "argument index must be an integer from 0 to 30, got '3'"),
    ],
)
def test_only_bytes_are_patched(packed, index, text):
    for value in (1, b"1234"):
        with pytest.raises(fm.errors.InvalidArgument, match=f"fields: {text}"):
            packed[0].patch(index, 0, value)


def test_bytes_with_gaps_are_no_patch(packed):
    with pytest.raises(fm.errors.InvalidArgument, match="fields: the patch of argument 3: "):
        packed[0].patch(3, 0, memoryview(bytes(8))[::2])
