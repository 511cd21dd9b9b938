"""Buffer: allocation, views, and what NumPy and memoryview see of it."""

import gc
import math
import weakref

import numpy as np
import pytest

import flashmetal as fm
from flashmetal.dtype import DTYPES, numpy_dtype
from flashmetal.errors import (
    BufferAllocationError,
    InvalidArgument,
    InvalidState,
    UnsupportedDtype,
)

NUMPY_NAMES = [name for name in DTYPES if name != "bf16"]


def address(buffer):
    return np.asarray(buffer).__array_interface__["data"][0]


def test_alloc_gives_zeros_on_a_page(device):
    buffer = device.alloc((3, 5), "f32")
    assert np.array_equal(np.asarray(buffer), np.zeros((3, 5), "f4"))
    assert address(buffer) % device.page_size == 0


def test_memory_that_is_used_again_is_zero_again(device):
    for _ in range(3):
        buffer = device.alloc(1 << 16, "u8")
        array = np.asarray(buffer)
        assert not array.any()
        array[:] = 255
        del array, buffer


def test_properties(device):
    buffer = device.alloc((3, 5), "f16")
    assert buffer.dtype == "f16"
    assert buffer.shape == (3, 5)
    assert (buffer.ndim, buffer.element_count, len(buffer)) == (2, 15, 3)
    assert buffer.data_byte_len == buffer.nbytes == 30
    assert buffer.byte_len >= 30
    assert buffer.byte_offset == 0
    assert not buffer.read_only
    assert buffer.device is device
    assert repr(buffer) == "Buffer(shape=(3, 5), dtype=f16, byte_offset=0, read_only=False)"


def test_shape_may_be_one_integer_or_none_at_all(device):
    assert device.alloc(7, "u8").shape == (7,)
    assert device.alloc(np.int64(7), "u8").shape == (7,)
    assert device.alloc([2, np.uint8(3)], "u8").shape == (2, 3)
    scalar = device.alloc((), "f32")
    assert (scalar.shape, scalar.ndim, scalar.nbytes) == ((), 0, 4)
    assert np.asarray(scalar).shape == ()
    with pytest.raises(TypeError):
        len(scalar)


def test_more_dimensions_than_the_buffer_protocol_has_are_refused(device):
    assert memoryview(device.alloc((1,) * 64, "u8")).ndim == 64
    for make in (device.alloc, lambda *window: device.alloc(1, "u8").view(0, *window)):
        with pytest.raises(InvalidArgument, match="shape must have at most 64 dimensions, got 65"):
            make((1,) * 65, "u8")


def test_buffers_are_made_by_devices_only():
    # Made any other way, they would have no memory.
    for make in (fm.Buffer, lambda: fm.Buffer.__new__(fm.Buffer)):
        with pytest.raises(InvalidArgument, match=r"buffers are made by Device\.alloc"):
            make()
    with pytest.raises(TypeError):
        fm.BufferWithOffset.__new__(fm.BufferWithOffset)


@pytest.mark.parametrize("shape", [0, (0,), (4, 0, 64), (0, 64)], ids=str)
def test_no_bytes_are_refused(device, shape):
    with pytest.raises(InvalidArgument) as caught:
        device.alloc(shape, "f32")
    assert str(caught.value) == "Invalid argument: Buffer byte length must be > 0"


@pytest.mark.parametrize(
    "shape",
    [-1, (2, -3), 2.0, (2, 2.5), "12", None, (2, "3"), 2**64, {2, 3}, {2: 3}, b"ab", bytearray(2)],
    ids=str,
)
def test_dimensions_are_counts(device, shape):
    with pytest.raises(InvalidArgument, match="shape must be an integer"):
        device.alloc(shape, "f32")


@pytest.mark.parametrize("shape", [(1 << 60,), (1 << 40, 1 << 40), (1 << 32, 1 << 32)], ids=str)
def test_sizes_never_wrap_around(device, shape):
    with pytest.raises(BufferAllocationError) as caught:
        device.alloc(shape, "f32")
    size = 4 * math.prod(shape)
    assert str(caught.value) == f"Failed to allocate Metal buffer of {size} bytes"


def test_unknown_dtype_is_refused(device):
    with pytest.raises(UnsupportedDtype, match=r"Unsupported dtype: float64.*astype"):
        device.alloc(4, np.float64)


def test_refusal_by_metal_leaves_the_device_usable(device, host):
    host.set_faults("buffer")
    with pytest.raises(BufferAllocationError) as caught:
        device.alloc(100, "f32")
    assert str(caught.value) == "Failed to allocate Metal buffer of 400 bytes"
    assert device.alloc(100, "f32").nbytes == 400


def test_budget_of_all_buffers_is_given_back(device, host):
    # Pages that nobody writes cost no memory; what other tests keep is small beside it.
    host.set_limits(budget=1 << 30)
    for _ in range(3):
        first = device.alloc(1 << 29, "u8")
        with pytest.raises(BufferAllocationError):
            device.alloc(1 << 30, "u8")
        del first


@pytest.mark.parametrize("name", NUMPY_NAMES)
def test_numpy_sees_dtype_and_shape(device, name):
    buffer = device.alloc((2, 3, 4), name)
    array = np.asarray(buffer)
    assert array.dtype == numpy_dtype(name)
    assert array.shape == (2, 3, 4)
    assert np.shares_memory(array, buffer.numpy())
    view = memoryview(buffer)
    assert (view.format, view.itemsize) == (DTYPES[name].format, DTYPES[name].size)
    assert view.strides == array.strides
    assert view.c_contiguous
    assert not view.readonly


def test_bf16_exports_as_u16_and_comes_to_numpy_through_ml_dtypes(device):
    bfloat16 = pytest.importorskip("ml_dtypes").bfloat16
    buffer = device.alloc((2, 3), "bf16")
    assert memoryview(buffer).format == "H"
    buffer.numpy()[:] = 1.5
    assert buffer.numpy().dtype == bfloat16
    assert np.asarray(buffer).tolist() == [[0x3FC0] * 3] * 2


def test_simple_requests_get_bytes(device):
    buffer = device.alloc((2, 3), "u16")
    np.asarray(buffer)[:] = [[1, 2, 3], [4, 5, 6]]
    assert bytes(buffer) == np.arange(1, 7, dtype="u2").tobytes()
    assert memoryview(buffer).cast("B").shape == (12,)


def test_writes_through_any_view_are_seen_by_all(device):
    buffer = device.alloc((4, 4), "f32")
    inner = buffer.view(16, (2, 4), "f32")
    np.asarray(inner)[:] = 7
    assert np.asarray(buffer).sum() == 56
    assert np.asarray(buffer)[1:3].min() == 7


def test_views_compose_and_keep_to_their_own_bytes(device):
    buffer = device.alloc(64, "u8")
    np.asarray(buffer)[:] = np.arange(64)
    outer = buffer.view(16, 32, "u8")
    inner = outer.view(8, (2, 4), "u16")
    assert inner.byte_offset == 24
    assert (inner.data_byte_len, inner.byte_len) == (16, buffer.byte_len)
    assert np.asarray(inner).tobytes() == bytes(range(24, 40))
    with pytest.raises(InvalidArgument, match="bytes 24 to 34 are not inside the buffer's 32"):
        outer.view(24, 10, "u8")


@pytest.mark.parametrize(
    ("offset", "shape"), [(0, 65), (64, 1), (2**63 - 1, 1), (60, (2, 3)), (1, 64), (0, 2**62)]
)
def test_views_outside_are_refused(device, offset, shape):
    with pytest.raises(InvalidArgument, match="are not inside the buffer's 64 bytes"):
        device.alloc(64, "u8").view(offset, shape, "u8")


@pytest.mark.parametrize("offset", [-1, 2**64, 1.0, "1", None])
def test_view_offsets_are_counts_of_bytes(device, offset):
    with pytest.raises(InvalidArgument, match="offset_bytes must be an integer"):
        device.alloc(64, "u8").view(offset, 1, "u8")


def test_empty_views_are_refused(device):
    with pytest.raises(InvalidArgument, match="Buffer byte length must be > 0"):
        device.alloc(64, "u8").view(0, 0, "u8")


def test_views_at_any_byte(device):
    buffer = device.alloc(64, "u8")
    np.asarray(buffer)[:] = np.arange(64)
    odd = np.asarray(buffer.view(3, 4, "f32"))
    assert odd.tobytes() == bytes(range(3, 19))


def test_memory_outlives_its_handle_while_an_array_uses_it(device):
    array = np.asarray(device.alloc(1 << 16, "f32"))
    gc.collect()
    array[:] = 3
    assert array.sum() == 3 << 16


def test_views_keep_the_allocation(device, host):
    objects = host.live_objects()
    view = device.alloc(1 << 16, "u8").view(5, 10, "u8").view(1, 2, "u8")
    assert host.live_objects() == objects + 1
    np.asarray(view)[:] = 9
    del view
    assert host.live_objects() == objects


def test_a_buffer_keeps_its_device():
    buffer = fm.Device().alloc(4, "u8")
    gc.collect()
    assert buffer.device.name


def test_buffers_take_weak_references(device):
    buffer = device.alloc(4, "u8")
    reference = weakref.ref(buffer)
    assert reference() is buffer
    del buffer
    assert reference() is None


def test_many_buffers_leave_nothing(device, host):
    objects = host.live_objects()
    for _ in range(500):
        device.alloc(16 << 20, "u8")
    assert host.live_objects() == objects


def test_buffers_come_from_a_device_only():
    with pytest.raises(InvalidArgument, match=r"Device\.alloc, Device\.wrap and Buffer\.view"):
        fm.Buffer()


def test_offsets_past_four_gigabytes_are_exact(device):
    size = (1 << 32) + (1 << 20)
    if device.max_buffer_length < size:
        pytest.skip("the device has no such buffers")
    # Pages that nobody writes cost no memory.
    buffer = device.alloc(size, "u8")
    assert (buffer.nbytes, buffer.element_count) == (size, size)
    crossing = buffer.view((1 << 32) - 2, 4, "u8")
    np.asarray(crossing)[:] = [1, 2, 3, 4]
    assert crossing.byte_offset == (1 << 32) - 2
    assert np.asarray(buffer)[(1 << 32) - 2 : (1 << 32) + 2].tolist() == [1, 2, 3, 4]
    assert np.asarray(buffer)[-4:].tolist() == [0, 0, 0, 0]


# ---- release -------------------------------------------------------------------------------------


def test_release_gives_the_memory_back_at_once(device, host):
    host.set_limits(budget=1 << 30)
    first = device.alloc(1 << 29, "u8")
    view = first.view(0, 16, "u8")
    first.release()
    first.release()
    assert first.released
    assert view.released
    assert not device.alloc(1 << 29, "u8").released


def test_released_buffer_is_refused_everywhere(device):
    buffer = device.alloc((2, 3), "f32")
    view = buffer.view(4, 2, "f32")
    buffer.release()
    for handle in (buffer, view):
        for use in (np.asarray, lambda handle: handle.view(0, 1, "u8"), lambda h: h.address):
            with pytest.raises(InvalidState, match="the buffer is released: its memory is given"):
                use(handle)
        with pytest.raises(BufferError, match="the buffer is released"):
            memoryview(handle)
    assert repr(buffer) == "Buffer(shape=(2, 3), dtype=f32, byte_offset=0, read_only=False)"


def test_memory_with_users_is_not_released(device):
    buffer = device.alloc(8, "u8")
    array, view = np.asarray(buffer), memoryview(buffer)
    with pytest.raises(InvalidState, match=r"the buffer's memory has \d users"):
        buffer.release()
    array[:] = 3
    assert bytes(view) == b"\x03" * 8
    del array
    view.release()
    gc.collect()
    buffer.release()
    assert buffer.released


def test_release_of_wrapped_memory_lets_the_array_go(device):
    array = np.arange(4096, dtype=np.uint32)
    buffer = device.wrap(array)
    assert device.wrap(array[4:8]).byte_len == buffer.byte_len
    buffer.release()
    array[:] = 7
    again = device.wrap(array)
    assert np.asarray(again)[0] == 7
    gone = weakref.ref(array)
    again.release()
    del array
    gc.collect()
    assert gone() is None
