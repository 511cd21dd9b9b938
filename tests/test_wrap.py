"""Device.wrap: memory of Python objects used in place, or refused with the reason."""

import array
import ctypes
import gc
import io
import mmap
import sys
import time
import weakref

import numpy as np
import pytest

import flashmetal as fm
from flashmetal.errors import BufferAllocationError, InvalidArgument, InvalidType, UnsupportedDtype

PROT_NONE = 0
WAYS_OUT = r"dev\.alloc\(shape, dtype\).*copy=None"
NUMPY_TYPES = {"f32": "f4", "f16": "f2", "u8": "u1", "u16": "u2", "u32": "u4", "i32": "i4"}


def aligned(size, offset=0, dtype="u1"):
    """Bytes at `offset` past a multiple of 16, which NumPy does not promise on every system."""
    memory = np.zeros(size + offset + 16, "u1")
    start = -memory.ctypes.data % 16 + offset
    return memory[start : start + size].view(dtype)


def no_copy(buffer, obj):
    return np.asarray(buffer).ctypes.data == np.frombuffer(obj, "u1").ctypes.data


@pytest.mark.parametrize("name", NUMPY_TYPES)
def test_arrays_are_used_in_place(device, name):
    source = aligned(480, dtype=NUMPY_TYPES[name]).reshape(2, 4, -1)
    buffer = device.wrap(source)
    assert buffer.dtype == name
    assert buffer.shape == source.shape
    assert (buffer.data_byte_len, buffer.read_only) == (480, False)
    assert np.shares_memory(np.asarray(buffer), source)
    np.asarray(buffer)[:] = 7
    assert (source == 7).all()


def test_the_metal_buffer_is_the_enclosing_pages(device):
    source = aligned(100)
    buffer = device.wrap(source)
    assert buffer.byte_len % device.page_size == 0
    assert buffer.byte_offset == source.ctypes.data % device.page_size
    assert buffer.byte_offset + 100 <= buffer.byte_len


def test_whole_pages_start_at_zero(device):
    with mmap.mmap(-1, 4 * device.page_size) as pages:
        start = -np.frombuffer(pages, "u1").ctypes.data % device.page_size
        source = np.frombuffer(pages, "u1")[start : start + 2 * device.page_size]
        buffer = device.wrap(source, strict=True)
        assert (buffer.byte_offset, buffer.byte_len) == (0, 2 * device.page_size)
        del source, buffer


@pytest.mark.parametrize("size", [100, 16_384])
def test_strict_demands_whole_pages(device, size):
    whole = aligned(size + 16)
    start = 0 if whole.ctypes.data % device.page_size else 16
    source = whole[start : start + size]
    rule = (
        f"whole pages of {device.page_size} bytes, and its {size} bytes start \\d+ bytes into one"
    )
    with pytest.raises(InvalidArgument, match=f"{rule}.*{WAYS_OUT}"):
        device.wrap(source, strict=True)
    assert device.wrap(source, copy=None, strict=True).read_only


@pytest.mark.parametrize(
    "source",
    [
        bytearray(64),
        memoryview(bytearray(64)),
        array.array("f", range(16)),
        array.array("H", range(32)),
        (ctypes.c_float * 16)(),
        (ctypes.c_uint32 * 4 * 4)(),
    ],
    ids=lambda source: type(source).__name__,
)
def test_other_exporters_are_used_in_place(device, source):
    buffer = device.wrap(source)
    assert buffer.data_byte_len == 64
    assert buffer.shape == memoryview(source).shape
    assert no_copy(buffer, source)
    np.asarray(buffer)[:] = 3
    assert bytes(source) == np.asarray(buffer).tobytes()


@pytest.mark.parametrize("dtype", [">f4", ">f2", ">u2", ">u4", ">i4"])
def test_big_endian_is_refused(device, dtype):
    for copy in (False, None, True):
        with pytest.raises(UnsupportedDtype, match=r"byte order.*astype.*byteswap"):
            device.wrap(np.zeros(8, dtype), copy=copy)


@pytest.mark.parametrize(
    "dtype", ["f8", "i8", "u8", "i2", "i1", "?", "c8", "U4", "S4", "O", "M8[s]"]
)
def test_other_dtypes_are_refused_by_their_numpy_name(device, dtype):
    source = np.zeros(8, dtype)
    with pytest.raises(UnsupportedDtype) as caught:
        device.wrap(source)
    assert str(caught.value).startswith(f"Unsupported dtype: {source.dtype.name};")
    assert "astype" in str(caught.value)


def test_structured_arrays_are_refused(device):
    source = np.zeros(8, [("a", "u1"), ("h", "f2")])
    with pytest.raises(UnsupportedDtype, match=r"one field.*astype"):
        device.wrap(source)
    with pytest.raises(InvalidArgument, match="not C-contiguous"):
        device.wrap(np.zeros(8, [("h", "f2"), ("b", "u2")])["h"])


def test_bf16_arrays(device):
    bfloat16 = pytest.importorskip("ml_dtypes").bfloat16
    source = aligned(64, dtype="u2").view(bfloat16)
    buffer = device.wrap(source)
    assert buffer.dtype == "bf16"
    buffer.numpy()[:] = 2.5
    assert (source == bfloat16(2.5)).all()
    with pytest.raises(UnsupportedDtype, match="byte order"):
        device.wrap(source.view(source.dtype.newbyteorder()))


@pytest.mark.parametrize(
    "source", [5, None, "text", [1.0, 2.0], object()], ids=lambda source: type(source).__name__
)
def test_objects_without_memory_are_refused(device, source):
    with pytest.raises(InvalidArgument, match="must have the buffer protocol"):
        device.wrap(source)


@pytest.mark.parametrize("copy", [False, None, True])
@pytest.mark.parametrize(
    "source", [b"", bytearray(), np.zeros(0, "f4"), np.zeros((4, 0, 64), "f2")], ids=repr
)
def test_no_bytes_are_refused(device, source, copy):
    with pytest.raises(InvalidArgument) as caught:
        device.wrap(source, copy=copy)
    assert str(caught.value) == "Invalid argument: Buffer byte length must be > 0"


@pytest.mark.parametrize("copy", [0, 1, "yes", np.True_], ids=repr)
def test_copy_has_three_values(device, copy):
    with pytest.raises(InvalidType, match="copy must be False, None or True"):
        device.wrap(aligned(64), copy=copy)


def strided(pick):
    return pick(np.arange(48, dtype="f4").reshape(6, 8))


LAYOUTS = {
    "step": lambda a: a[::2],
    "backward": lambda a: a[::-1],
    "transposed": lambda a: a.T,
    "column": lambda a: a[:, 1],
    "columns": lambda a: a[:, 4:],
    "broadcast": lambda a: np.broadcast_to(a[0], (3, 8)),
}


@pytest.mark.parametrize("layout", LAYOUTS)
def test_other_layouts_are_refused_with_the_ways_out(device, layout):
    source = strided(LAYOUTS[layout])
    with pytest.raises(InvalidArgument, match=f"not C-contiguous.*{WAYS_OUT}") as caught:
        device.wrap(source)
    assert f"memory at {source.ctypes.data:#x}" in str(caught.value)


@pytest.mark.parametrize("copy", [None, True])
@pytest.mark.parametrize("layout", LAYOUTS)
def test_copies_have_the_logical_contents(device, layout, copy):
    source = strided(LAYOUTS[layout])
    buffer = device.wrap(source, copy=copy)
    assert np.array_equal(np.asarray(buffer), source)
    assert not np.shares_memory(np.asarray(buffer), source)


def test_strides_of_axes_of_length_one_do_not_matter(device):
    source = aligned(160, dtype="f4").reshape(1, 10, 4)[::-1]
    assert device.wrap(source).shape == (1, 10, 4)


@pytest.mark.parametrize("offset", [1, 4, 8])
def test_unaligned_memory_is_refused_with_address_rule_and_ways_out(device, offset):
    source = aligned(64, offset)
    with pytest.raises(InvalidArgument, match=f"not a multiple of 16.*{WAYS_OUT}") as caught:
        device.wrap(source)
    assert f"memory at {source.ctypes.data:#x} cannot be used in place" in str(caught.value)
    buffer = device.wrap(source, copy=None)
    assert np.array_equal(np.asarray(buffer), source)


def test_copies_are_snapshots_and_read_only(device):
    source = aligned(64)
    buffer = device.wrap(source, copy=True)
    source[:] = 9
    assert not np.asarray(buffer).any()
    assert buffer.read_only
    assert buffer.view(0, 8, "u8").read_only
    with pytest.raises(ValueError, match="read-only"):
        np.asarray(buffer)[:] = 1
    assert not device.wrap(source, copy=None).read_only


def test_refusal_by_metal_names_the_address_or_copies(device, host):
    source = aligned(64)
    host.set_faults("nocopy:count=2")
    with pytest.raises(BufferAllocationError, match=f"{source.ctypes.data:#x}.*{WAYS_OUT}"):
        device.wrap(source)
    assert device.wrap(source, copy=None).read_only
    assert not device.wrap(source).read_only


READ_ONLY = {
    "array": lambda: np.frombuffer(bytes(range(64)), "u1"),
    "bytes": lambda: bytes(range(64)),
    "memoryview": lambda: memoryview(bytearray(range(64))).toreadonly(),
}


@pytest.mark.parametrize("kind", READ_ONLY)
def test_read_only_memory_is_taken_and_stays_read_only(device, kind):
    source = READ_ONLY[kind]()
    buffer = device.wrap(source)
    assert buffer.read_only
    assert buffer.view(0, 4, "f32").read_only
    assert no_copy(buffer, source)
    assert np.asarray(buffer).tobytes() == bytes(range(64))
    assert not np.asarray(buffer).flags.writeable
    with pytest.raises(TypeError, match="read-write"):
        io.BytesIO(bytes(64)).readinto(buffer)


def test_read_only_and_writable_views_of_one_array(device):
    source = aligned(64)
    frozen = source.view()
    frozen.flags.writeable = False
    first, second = device.wrap(frozen), device.wrap(source)
    assert (first.read_only, second.read_only) == (True, False)
    third = device.wrap(frozen)
    assert third.read_only


def test_memory_inside_a_live_buffer_gives_a_view_of_it(device, host):
    objects = host.live_objects()
    buffer = device.alloc((8, 8), "f32")
    row = device.wrap(np.asarray(buffer)[2])
    assert (row.byte_offset, row.byte_len) == (64, buffer.byte_len)
    assert host.live_objects() == objects + 1
    del buffer
    np.asarray(row)[:] = 4
    assert np.asarray(row).sum() == 32


def test_views_of_a_live_buffer_need_no_alignment(device):
    source = aligned(64)
    whole = device.wrap(source)
    part = device.wrap(source[1:5])
    assert part.byte_offset == whole.byte_offset + 1
    assert device.wrap(whole).byte_offset == whole.byte_offset


def test_live_memory_is_found_among_much_and_until_it_is_gone(device, host):
    random = np.random.default_rng(0)
    memory = aligned(16 * 400)
    live = {}  # by first byte and end
    for _ in range(600):
        first, end = sorted(16 * random.choice(401, 2, replace=False))
        objects = host.live_objects()
        part = device.wrap(memory[first:end])
        is_inside = any(begin <= first and end <= stop for begin, stop in live)
        assert (host.live_objects() == objects) == is_inside
        assert np.asarray(part).ctypes.data == memory.ctypes.data + first
        if not is_inside and len(live) < 40:
            live[first, end] = part
        del part
        if live and random.random() < 0.3:
            del live[list(live)[random.integers(len(live))]]


def test_memory_that_was_free_is_found_once_it_is_live(device, host):
    memory = np.frombuffer(mmap.mmap(-1, 4 * device.page_size), "u1")
    others = [device.alloc(1, "u8") for _ in range(20)]
    device.wrap(memory[:64])
    whole = device.wrap(memory)
    others += [device.alloc(1, "u8") for _ in range(20)]
    objects = host.live_objects()
    part = device.wrap(memory[:64])
    assert (part.byte_len, host.live_objects()) == (whole.byte_len, objects)


def test_a_copy_inside_a_copy_stays_read_only(device):
    copied = device.wrap(aligned(64), copy=True)
    assert device.wrap(np.asarray(copied)).read_only
    assert device.wrap(copied).read_only


def test_other_data_on_the_pages_is_no_part_of_a_buffer(device, host):
    memory = aligned(96)
    first = device.wrap(memory[:32])
    objects = host.live_objects()
    second = device.wrap(memory[32:64])
    assert host.live_objects() == objects + 1
    assert second.data_byte_len == 32
    np.asarray(first)[:], np.asarray(second)[:] = 1, 2
    assert memory.tolist() == [1] * 32 + [2] * 32 + [0] * 32


def test_overlapping_memory_wraps_twice(device):
    memory = aligned(96)
    first, second = device.wrap(memory[:64]), device.wrap(memory[32:])
    np.asarray(first)[:] = 1
    np.asarray(second)[:] = 2
    assert memory.tolist() == [1] * 32 + [2] * 64
    assert np.asarray(first).tolist() == [1] * 32 + [2] * 32


def test_buffers_of_another_device_are_wrapped_anew(device, host):
    other = fm.Device(threads=device.threads + 1)
    source = aligned(64)
    first, second = device.wrap(source), other.wrap(source)
    assert (first.device, second.device) == (device, other)


def test_the_array_is_let_go_with_the_last_handle(device):
    source = np.zeros(1 << 16, "u1")
    reference = weakref.ref(source)
    buffer = device.wrap(source)
    view = buffer.view(0, 16, "u8")
    del source, buffer
    gc.collect()
    assert reference() is not None
    del view
    assert reference() is None


def test_a_hundred_arrays_are_all_let_go(device):
    for _ in range(100):
        source = np.empty(4 << 20, "u1")
        reference = weakref.ref(source)
        buffer = device.wrap(source)
        del source, buffer
        assert reference() is None


def test_refused_arrays_are_let_go(device, host):
    source = np.zeros(1 << 16, "u1")
    references = sys.getrefcount(source)
    host.set_faults("nocopy")
    for refuse in (lambda: device.wrap(source), lambda: device.wrap(source[::2])):
        with pytest.raises(fm.errors.FlashMetalError):
            refuse()
    device.wrap(source, copy=True)
    assert sys.getrefcount(source) == references


def test_exporters_are_pinned_exactly_as_long_as_they_are_used(device):
    source = bytearray(1024)
    buffer = device.wrap(source)
    with pytest.raises(BufferError):
        source.extend(b"x")
    del buffer
    source.extend(b"x")


def test_mappings_stay_open_while_a_buffer_uses_them(device, tmp_path):
    path = tmp_path / "weights"
    path.write_bytes(bytes(range(256)) * 64)
    with path.open("rb") as file:
        mapping = mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ)
    buffer = device.wrap(mapping)
    assert buffer.read_only
    with pytest.raises(BufferError):
        mapping.close()
    assert np.asarray(buffer.view(256, 256, "u8")).tolist() == list(range(256))
    del buffer
    mapping.close()


def test_private_mappings_leave_the_file_alone(device, tmp_path):
    path = tmp_path / "weights"
    path.write_bytes(bytes(4096))
    buffer = device.wrap(np.memmap(path, "f4", mode="c"))
    np.asarray(buffer)[:] = 1
    assert path.read_bytes() == bytes(4096)


def test_memory_beside_unmapped_pages(device):
    if device.page_size <= mmap.PAGESIZE:
        pytest.skip("no page of the device is half mapped on this system")
    pages = mmap.mmap(-1, mmap.PAGESIZE)
    source = np.frombuffer(pages, "u4")
    buffer = device.wrap(source)
    np.asarray(buffer)[:] = 5
    assert source.sum() == 5 * source.size


def wrapped_in_flight(device, add, source):
    """An encoder at work on wrapped memory that nothing else refers to."""
    out = device.alloc(source.size, "u32")
    encoder = device.encoder()
    encoder.dispatch_threads(
        add, {0: device.wrap(source), 1: out, 2: np.uint32(1).tobytes()}, source.size, 64
    )
    encoder.commit()
    return encoder, out


@pytest.fixture
def add(device):
    from small_kernels import ADD

    registry = fm.KernelRegistry(device)
    registry.register_source("add", ADD)
    return registry.get_pipeline("add")


def test_work_in_flight_keeps_wrapped_memory(device, host, add):
    host.set_faults("hang:ms=200")
    source = aligned(4096, dtype="u4")
    source[:] = 41
    memory = weakref.ref(source.base)
    encoder, out = wrapped_in_flight(device, add, source)
    del source
    gc.collect()
    assert memory() is not None
    encoder.wait()
    assert (np.asarray(out) == 42).all()
    del encoder
    assert memory() is None


def test_exporters_can_change_after_the_wait(device, host, add):
    host.set_faults("hang:ms=100")
    source = bytearray(4096)
    encoder, _ = wrapped_in_flight(device, add, np.frombuffer(source, "u4"))
    with pytest.raises(BufferError):
        source.extend(b"x")
    encoder.wait()
    source.extend(b"x")


def test_memory_is_given_back_without_another_call(device, add):
    source = aligned(4096, dtype="u4")
    memory = weakref.ref(source.base)
    encoder, _ = wrapped_in_flight(device, add, source)
    del source, encoder
    # Metal's thread only notes that it is done: a pending call of the interpreter acts on it.
    deadline = time.monotonic() + 10
    while memory() is not None and time.monotonic() < deadline:
        time.sleep(0.001)
    assert memory() is None


def test_kernels_read_read_only_mappings(device, add, tmp_path):
    path = tmp_path / "weights"
    np.arange(1024, dtype="u4").tofile(path)
    out = device.alloc(1024, "u32")
    weights = device.wrap(np.memmap(path, "u4", mode="r"))
    with device.encoder() as encoder:
        encoder.dispatch_threads(add, {0: weights, 1: out, 2: np.uint32(5).tobytes()}, 1024, 64)
    assert np.array_equal(np.asarray(out), np.arange(5, 1029))


def test_kernels_write_wrapped_memory_beside_forbidden_pages(device, add):
    if device.page_size <= mmap.PAGESIZE:
        pytest.skip("no page of the device is half mapped on this system")
    mapping = mmap.mmap(-1, 2 * mmap.PAGESIZE)
    source = np.frombuffer(mapping, "u4")
    guard = ctypes.c_void_p(source.ctypes.data + mmap.PAGESIZE)
    libc = ctypes.CDLL(None, use_errno=True)
    assert libc.mprotect(guard, mmap.PAGESIZE, PROT_NONE) == 0
    half = source[: source.size // 2]
    buffer = device.wrap(half)
    with device.encoder() as encoder:
        encoder.dispatch_threads(
            add, {0: buffer, 1: buffer, 2: np.uint32(3).tobytes()}, half.size, 64
        )
    assert (half == 3).all()


def test_two_arrays_of_one_page_in_one_dispatch(device, add):
    memory = aligned(512, dtype="u4")
    source, out = memory[:64], memory[64:]
    source[:] = np.arange(64)
    with device.encoder() as encoder:
        encoder.dispatch_threads(
            add,
            {0: device.wrap(source), 1: device.wrap(out), 2: np.uint32(7).tobytes()},
            64,
            64,
        )
    assert np.array_equal(out, np.arange(7, 71))
    assert np.array_equal(source, np.arange(64))


def test_memory_is_found_among_many_that_overlap(device, host):
    """The live buffers against a list of them, while they come and go at random."""
    random = np.random.default_rng(1)
    memory = aligned(1 << 16)
    live = {}
    for number in range(600):
        start, length = int(random.integers(0, 4000)) * 16, int(random.integers(1, 600))
        part = memory[start : start + length]
        covering = any(
            first <= start and start + part.size <= first + size for first, size, _ in live.values()
        )
        objects = host.live_objects()
        buffer = device.wrap(part)
        assert (host.live_objects() == objects) == covering
        assert buffer.address == part.ctypes.data
        if not covering:
            live[number] = (start, part.size, buffer)
        for other in list(live):
            if random.random() < 0.02:
                del live[other]
        del buffer


def test_the_memory_of_a_dropped_buffer_is_wrapped_anew(device, host):
    source = aligned(64)
    objects = host.live_objects()
    for _ in range(100):
        buffer = device.wrap(source)
        assert host.live_objects() == objects + 1
        del buffer
        assert host.live_objects() == objects


@pytest.mark.parametrize("axes", [1, 4, 5, 16, 32])
def test_arrays_of_any_number_of_axes(device, axes):
    source = aligned(64, dtype="f4").reshape((1,) * (axes - 1) + (16,))
    buffer = device.wrap(source)
    assert buffer.shape == buffer.view(0, source.shape, "f32").shape == source.shape
    assert np.asarray(buffer).strides == source.strides
    assert np.shares_memory(np.asarray(buffer), source)


def test_arrays_without_an_axis(device):
    source = aligned(16, dtype="f4")[0:1].reshape(())
    buffer = device.wrap(source)
    assert (buffer.shape, buffer.nbytes) == ((), 4)
    assert np.shares_memory(np.asarray(buffer), source)
