"""What a dispatch is checked for, each check naming the kernel, before anything is encoded."""

import numpy as np
import pytest
from small_kernels import ADD, OPTIONAL, PADDED, SHARED, WIDE

import flashmetal as fm
from flashmetal import _host

DELTA = (5).to_bytes(4, "little")


@pytest.fixture
def registry(device):
    registry = fm.KernelRegistry(device)
    for name, text in {
        "add": ADD,
        "wide": WIDE,
        "shared_sum": SHARED,
        "optional": OPTIONAL,
    }.items():
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


def refuse(device, pipeline, args, grid=1, threads=32, memory=None, *, exact=False):
    """Dispatch, see it refused without a trace, and return the text after the kernel's name."""
    encoder = device.encoder()
    dispatch = encoder.dispatch_threads if exact else encoder.dispatch
    with pytest.raises(fm.errors.InvalidArgument) as caught:
        dispatch(pipeline, args, grid, threads, memory)
    assert (encoder.dispatch_count, encoder.command_buffer_count) == (0, 0)
    assert encoder.state == "open"
    prefix = f"Invalid argument: {pipeline.name}: "
    assert str(caught.value).startswith(prefix)
    return str(caught.value).removeprefix(prefix)


def run(device, pipeline, args, *sizes, memory=None):
    with device.encoder() as encoder:
        encoder.dispatch(pipeline, args, *sizes, threadgroup_memory=memory)


# ---- grid ----------------------------------------------------------------------------------------


@pytest.mark.parametrize("exact", [False, True])
@pytest.mark.parametrize("size", [0, (0,), (1, 0), (1, 1, 0), -1, 2**32, 1.0, "1", None])
def test_grid_must_be_one_to_three_positive_integers(device, add, buffers, size, exact):
    args = {0: buffers[0], 1: buffers[1], 2: DELTA}
    what = "threads" if exact else "threadgroups"
    text = refuse(device, add, args, size, exact=exact)
    assert text.startswith(f"{what} must be an integer from 1 to 4294967295, got ")
    text = refuse(device, add, args, 1, size, exact=exact)
    assert text.startswith("threads_per_threadgroup must be an integer from 1 to 4294967295, got ")


@pytest.mark.parametrize("size", [(), (1, 1, 1, 1)])
def test_grid_has_at_most_three_dimensions(device, add, size):
    assert refuse(device, add, {}, size) == (
        f"threadgroups must have 1 to 3 dimensions, got {size!r}"
    )


@pytest.mark.parametrize("threads", [(1025,), (32, 33), (8, 8, 17), (2**32 - 1,) * 3])
def test_threads_are_at_most_the_pipelines_maximum(device, add, threads):
    x, y, z = (*threads, 1, 1)[:3]
    assert refuse(device, add, {}, 1, threads) == (
        f"{x} × {y} × {z} threads per threadgroup, the pipeline allows 1024"
    )


def test_maximum_of_threads_is_the_devices():
    small = fm.Device(max_threads=64)
    registry = fm.KernelRegistry(small)
    registry.register_source("add", ADD)
    text = refuse(small, registry.get_pipeline("add"), {}, 1, 65)
    assert text == "65 × 1 × 1 threads per threadgroup, the pipeline allows 64"


@pytest.mark.parametrize("grid", [2, (2,), (2, 1), (2, 1, 1), (np.int64(2),)])
def test_grid_may_leave_dimensions_out(device, add, buffers, grid):
    source, out = buffers
    run(device, add, {0: source, 1: out, 2: DELTA}, grid, 32)
    assert np.array_equal(np.asarray(out), np.arange(64) + 5)


def test_exact_number_of_threads_may_end_inside_a_threadgroup(device, add, buffers):
    source, out = buffers
    with device.encoder() as encoder:
        encoder.dispatch_threads(add, {0: source, 1: out, 2: DELTA}, 40, 32)
    assert np.array_equal(np.asarray(out)[:40], np.arange(40) + 5)
    assert not np.asarray(out)[40:].any()


# ---- threadgroup memory --------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("memory", "text"),
    [
        (None, "threadgroup memory 0 is not given"),
        ({}, "threadgroup memory 0 is not given"),
        ({0: 24}, "threadgroup memory 0 of 24 bytes is not a multiple of 16"),
        ({0: 0}, "threadgroup memory length must be an integer from 1 to 4294967295, got 0"),
        ({0: 2.5}, "threadgroup memory length must be an integer from 1 to 4294967295, got 2.5"),
        ({1: 16}, "the kernel declares no threadgroup memory 1, only 0"),
        ({31: 16}, "threadgroup memory index must be an integer from 0 to 30, got 31"),
        ([16], "threadgroup_memory must be a dict by index, got list"),
    ],
)
def test_threadgroup_memory_must_suit_the_kernel(device, registry, buffers, memory, text):
    args = {0: buffers[0], 1: buffers[1]}
    assert refuse(device, registry.get_pipeline("shared_sum"), args, memory=memory) == text


def test_static_and_dynamic_threadgroup_memory_share_the_devices(device, registry):
    pipeline = registry.get_pipeline("shared_sum")
    most = device.max_threadgroup_memory
    static = pipeline.static_threadgroup_memory
    assert static == 256
    assert refuse(device, pipeline, {}, memory={0: most - static + 16}) == (
        f"{most + 16} bytes of threadgroup memory ({static} of them static), the device has {most}"
    )
    # All of it is fine; the next check speaks.
    assert refuse(device, pipeline, {}, memory={0: most - static}) == "argument 0, 1 is not given"


def test_kernel_without_threadgroup_arguments_takes_none(device, add):
    text = refuse(device, add, {}, memory={0: 16})
    assert text == "the kernel declares no threadgroup memory 0, only none"


def test_threadgroup_memory_reaches_the_kernel(device, registry, buffers):
    source, out = buffers
    pipeline = registry.get_pipeline("shared_sum")
    run(device, pipeline, {0: source, 1: out}, 2, 32, memory={0: 128})
    assert np.asarray(out)[:2].tolist() == [sum(range(32)), sum(range(32, 64))]


# ---- arguments -----------------------------------------------------------------------------------


@pytest.mark.parametrize("index", [-1, 31, 2**40, 1.0, "0"])
def test_index_must_be_one_that_metal_has(device, add, buffers, index):
    assert refuse(device, add, {index: buffers[0]}) == (
        f"argument index must be an integer from 0 to 30, got {index!r}"
    )


def test_argument_that_the_kernel_does_not_declare_is_refused(device, add, buffers):
    args = {0: buffers[0], 1: buffers[1], 2: DELTA, 3: DELTA}
    assert refuse(device, add, args) == "the kernel declares no argument 3, only 0, 1, 2"


@pytest.mark.parametrize(
    ("given", "missing"), [((), "0, 1, 2"), ((0,), "1, 2"), ((0, 1), "2"), ((2,), "0, 1")]
)
def test_argument_that_the_kernel_uses_must_be_given(device, add, buffers, given, missing):
    args = {0: buffers[0], 1: buffers[1], 2: DELTA}
    text = refuse(device, add, {index: args[index] for index in given})
    assert text == f"argument {missing} is not given"


def test_keys_that_stand_for_one_index_are_refused(device, registry, add, buffers):
    class Zero:
        def __index__(self):
            return 0

    assert refuse(device, add, {Zero(): buffers[0] for _ in range(40)}) == (
        "argument 0 is given twice"
    )
    pipeline = registry.get_pipeline("shared_sum")
    assert refuse(device, pipeline, {}, memory={Zero(): 16 for _ in range(40)}) == (
        "threadgroup memory 0 is given twice"
    )


def test_argument_switched_off_by_a_constant_may_be_left_out(device, registry, buffers):
    source, out = buffers
    without = registry.get_pipeline("optional", {0: False, 1: 3})
    run(device, without, {0: out}, 1, 4)
    assert np.asarray(out)[:4].tolist() == [3, 3, 3, 3]
    with_extra = registry.get_pipeline("optional", {0: True, 1: 3})
    assert refuse(device, with_extra, {0: out}) == "argument 1 is not given"
    run(device, with_extra, {0: out, 1: source}, 1, 4)
    assert np.asarray(out)[:4].tolist() == [3, 4, 5, 6]


@pytest.mark.parametrize("value", [5, 1.0, None, np.zeros(4, np.float32), [DELTA], (DELTA, 0)])
def test_argument_of_another_type_is_refused(device, add, value):
    text = refuse(device, add, {0: value})
    assert text.startswith("argument 0 must be a Buffer, (Buffer, offset), BufferWithOffset or ")
    assert f"got {type(value).__name__}; device.wrap(array) makes a Buffer" in text


def test_args_must_be_a_dict(device, add, buffers):
    assert refuse(device, add, list(buffers)) == "args must be a dict by index, got list"


@pytest.mark.parametrize("offset", [256, 2**40])
def test_offset_must_be_inside_the_handle(device, add, buffers, offset):
    assert refuse(device, add, {0: (buffers[0], offset)}) == (
        f"argument 0 offset {offset} is not inside its 256 bytes"
    )


@pytest.mark.parametrize("offset", [-4, 1.0, "4"])
def test_offset_must_be_an_integer(device, add, buffers, offset):
    text = refuse(device, add, {0: (buffers[0], offset)})
    assert text.startswith("buffer offset must be an integer from 0 to")


def test_offset_counts_from_the_views_first_byte(device, add, buffers):
    source, out = buffers
    view = source.view(64, 16, "u32")
    assert refuse(device, add, {0: (view, 64)}) == "argument 0 offset 64 is not inside its 64 bytes"
    run(device, add, {0: (view, 16), 1: (out, 4), 2: DELTA}, 1, 8)
    assert np.asarray(out)[1:9].tolist() == [25, 26, 27, 28, 29, 30, 31, 32]


def test_buffer_with_offset_counts_from_the_allocations_first_byte(device, add, buffers):
    source, out = buffers
    view = source.view(64, 16, "u32")
    run(device, add, {0: fm.BufferWithOffset(view, 8), 1: out, 2: DELTA}, 1, 4)
    assert np.asarray(out)[:4].tolist() == [7, 8, 9, 10]


@pytest.mark.parametrize("offset", [-1, 1.5])
def test_buffer_with_offset_must_be_inside_the_allocation(buffers, offset):
    for bad in (offset, buffers[0].byte_len):
        with pytest.raises(fm.errors.InvalidArgument, match="offset must be an integer from 0 to"):
            fm.BufferWithOffset(buffers[0], bad)
    assert fm.BufferWithOffset(buffers[0], buffers[0].byte_len - 1).buffer is buffers[0]


def test_offset_must_suit_the_arguments_type(device, registry, buffers):
    source, out = buffers
    wide = registry.get_pipeline("wide")
    assert refuse(device, wide, {0: (source, 8), 1: out}) == (
        "argument 0 offset 8 is not a multiple of 16"
    )
    # What counts is where the view is bound.
    assert refuse(device, wide, {0: source.view(8, 4, "u32"), 1: out}) == (
        "argument 0 offset 8 is not a multiple of 16"
    )
    assert refuse(device, wide, {0: fm.BufferWithOffset(source, 4), 1: out}) == (
        "argument 0 offset 4 is not a multiple of 16"
    )
    assert refuse(device, wide, {0: source, 1: (out, 2)}) == (
        "argument 1 offset 2 is not a multiple of 4"
    )


@pytest.mark.parametrize("length", [0, 4097])
def test_bytes_are_one_to_4096(device, add, length):
    assert refuse(device, add, {2: bytes(length)}) == (
        f"argument 2 has {length} bytes, which must be 1 to 4096; a Buffer takes more"
    )


@pytest.mark.parametrize("make", [bytes, bytearray, memoryview])
@pytest.mark.parametrize("length", [1, 3])
def test_bytes_have_all_bytes_of_the_arguments_type(device, add, make, length):
    assert refuse(device, add, {2: make(bytes(length))}) == (
        f"argument 2 'delta' has {length} byte{'s' * (length > 1)}, and the kernel's type for it "
        "takes 4: give the whole value, with the padding at the end of a struct"
    )


def test_bytes_of_a_struct_have_its_padding(device, registry):
    """Metal's own checks ask for it, too; C code passes sizeof."""
    registry.register_source("padded", PADDED)
    padded = registry.get_pipeline("padded")
    out = device.alloc(1, "u32")
    args = {0: out, 1: bytes(12)}
    assert refuse(device, padded, args).startswith("argument 1 'pair' has 12 bytes, and ")
    with pytest.raises(fm.errors.InvalidArgument, match="padded: argument 1 'pair' has 12 bytes"):
        fm.LaunchPlan(padded, args, 1, 1)
    run(device, padded, {0: out, 1: bytes(8) + DELTA + bytes(4), 2: DELTA}, 1, 1)
    assert np.asarray(out)[0] == 5
    # Bytes are also what a pointer points to: one element at least, and more are fine.
    assert refuse(device, padded, {0: out, 1: bytes(16), 2: b"12"}).startswith("argument 2 'more' ")
    run(device, padded, {0: out, 1: bytes(16), 2: DELTA * 3}, 1, 1)
    # An argument that the kernel does not look at may be anything.
    run(device, padded, {0: out, 1: bytes(16), 2: DELTA, 3: b"1"}, 1, 1)


def test_buffers_have_one_element_from_their_offset_on(device, registry, buffers):
    source, out = buffers
    wide = registry.get_pipeline("wide")
    advice = "and the kernel's type for it takes 16: bind a larger buffer or a smaller offset"
    view = source.view(16, 3, "u32")
    for short in (view, (source.view(0, 7, "u32"), 16), device.alloc(3, "f32")):
        assert refuse(device, wide, {0: short, 1: out}) == (
            f"argument 0 'in' has 12 bytes from its offset on, {advice}"
        )
    small = device.alloc(7, "f32")
    assert refuse(device, wide, {0: fm.BufferWithOffset(small, 16), 1: out}) == (
        f"argument 0 'in' has 12 bytes from its offset on, {advice}"
    )
    # A place in the allocation has all that the allocation has.
    run(device, wide, {0: fm.BufferWithOffset(view, 16), 1: out}, 1, 1)
    run(device, wide, {0: source.view(16, 4, "u32"), 1: (out, 252)}, 1, 1)


@pytest.mark.parametrize("make", [bytes, bytearray, memoryview])
def test_bytes_are_copied_when_encoded(device, add, buffers, make):
    source, out = buffers
    value = make(DELTA)
    with device.encoder() as encoder:
        encoder.dispatch(add, {0: source, 1: out, 2: value}, 1, 64)
        if make is bytearray:
            value.clear()  # nobody looks at it any more
    assert np.array_equal(np.asarray(out), np.arange(64) + 5)


def test_bytes_with_gaps_are_refused(device, add):
    text = refuse(device, add, {2: memoryview(bytes(8))[::2]})
    assert text.startswith("argument 2: ")


def test_what_the_kernel_writes_must_be_writable(device, add, buffers):
    source, out = buffers
    constant = np.zeros(64, np.uint32)
    constant.flags.writeable = False
    read_only = device.wrap(constant, copy=None)
    copied = device.wrap(np.zeros(64, np.uint32), copy=True)
    for buffer in (read_only, copied, copied.view(0, 4, "u32"), fm.BufferWithOffset(copied, 0)):
        assert refuse(device, add, {0: source, 1: buffer, 2: DELTA}) == (
            "the kernel writes argument 1, but its buffer is read-only memory or a copy"
        )
    assert refuse(device, add, {1: bytes(256)}) == (
        "the kernel writes argument 1, but bytes are copied"
    )
    # As an input it is fine.
    run(device, add, {0: read_only, 1: out, 2: DELTA}, 1, 64)
    assert np.asarray(out).tolist() == [5] * 64


def test_buffers_and_pipelines_of_another_device_are_refused(device, add, buffers):
    other = fm.Device(max_threads=512)
    text = refuse(other, add, {})
    assert text == (
        f"the pipeline belongs to Metal device {device.registry_id}, "
        f"the encoder to {other.registry_id}"
    )
    foreign = other.alloc(64, "u32")
    text = refuse(device, add, {0: foreign})
    assert text == (
        f"a buffer belongs to Metal device {other.registry_id}, the encoder to {device.registry_id}"
    )


def test_buffers_and_pipelines_of_an_equal_device_are_taken(add, buffers):
    source, out = buffers
    run(fm.Device(), add, {0: source, 1: out, 2: DELTA}, 1, 64)
    assert np.array_equal(np.asarray(out), np.arange(64) + 5)


def test_released_buffers_are_refused(device, add, buffers):
    source, out = buffers
    view = source.view(64, 16, "u32")
    source.release()
    encoder = device.encoder()
    for bad in (source, view, (source, 4), fm.BufferWithOffset(view, 4)):
        with pytest.raises(fm.errors.InvalidState) as caught:
            encoder.dispatch(add, {0: bad, 1: out, 2: DELTA}, 1, 4)
        assert str(caught.value) == (
            "Invalid state: add: the buffer of argument 0 is released: its memory is given back"
        )
    assert encoder.command_buffer_count == 0


def test_buffer_that_is_released_after_the_encoding_is_used_all_the_same(device, add, buffers):
    source, out = buffers
    with device.encoder() as encoder:
        encoder.dispatch(add, {0: source, 1: out, 2: DELTA}, 1, 64)
        source.release()
        del source
    assert np.array_equal(np.asarray(out), np.arange(64) + 5)


def test_pipeline_must_be_one(device):
    with pytest.raises(TypeError):
        device.encoder().dispatch("add", {}, 1, 1)


# ---- order and traces ----------------------------------------------------------------------------


def test_checks_run_in_the_documented_order(device, registry, buffers):
    """Each case is wrong in all that the cases after it are wrong in, too."""
    pipeline = registry.get_pipeline("shared_sum")
    other = fm.Device(max_threads=512)
    args = {31: 0}
    cases = [
        (other, args, 0, 0, {0: 8}, "the pipeline belongs"),
        (device, args, 0, 0, {0: 8}, "threadgroups must be"),
        (device, args, 1, 0, {0: 8}, "threads_per_threadgroup must be"),
        (device, args, 1, 2000, {0: 8}, "2000 × 1 × 1 threads"),
        (device, args, 1, 32, {0: 8}, "threadgroup memory 0 of 8 bytes"),
        (device, args, 1, 32, {0: 2**20}, f"{2**20 + 256} bytes of threadgroup memory"),
        (device, args, 1, 32, {}, "threadgroup memory 0 is not given"),
        (device, args, 1, 32, {0: 128}, "argument index must be"),
        (device, {3: 0}, 1, 32, {0: 128}, "the kernel declares no argument 3"),
        (device, {0: 0}, 1, 32, {0: 128}, "argument 0 must be a Buffer"),
        (device, {0: (buffers[0], 300)}, 1, 32, {0: 128}, "argument 0 offset 300 is not inside"),
        (device, {0: (buffers[0], 2)}, 1, 32, {0: 128}, "argument 0 offset 2 is not a multiple"),
        (device, {0: buffers[0]}, 1, 32, {0: 128}, "argument 1 is not given"),
    ]
    for machine, arguments, grid, threads, memory, text in cases:
        found = refuse(machine, pipeline, arguments, grid, threads, memory)
        assert found.startswith(text), found


def test_refused_dispatch_leaves_nothing_behind(device, add, buffers):
    before = _host.live_objects(), _host.message_count()
    encoder = device.encoder()
    for _ in range(100):
        with pytest.raises(fm.errors.InvalidArgument):
            encoder.dispatch(add, {0: buffers[0], 1: buffers[1], 2: memoryview(DELTA)}, 1, 4096)
        with pytest.raises(fm.errors.InvalidArgument):
            encoder.dispatch(add, {0: buffers[0], 2: memoryview(DELTA)}, 1, 4)
    assert (_host.live_objects(), _host.message_count()) == before


def test_refused_dispatch_leaves_the_encoder_usable(device, add, buffers):
    source, out = buffers
    with device.encoder() as encoder:
        with pytest.raises(fm.errors.InvalidArgument):
            encoder.dispatch(add, {0: source}, 1, 64)
        encoder.dispatch(add, {0: source, 1: out, 2: DELTA}, 1, 64)
    assert np.array_equal(np.asarray(out), np.arange(64) + 5)
