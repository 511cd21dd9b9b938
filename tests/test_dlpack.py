"""DLPack out and in: whose memory it is, what it holds, how long it stays, and what is refused."""

import ctypes
import gc
import importlib.util
import subprocess
import sys
import threading
import weakref

import numpy as np
import pytest

import flashmetal as fm
from flashmetal.errors import InvalidArgument, UnsupportedDtype

# Before 2.1, NumPy writes to nothing that it takes, and gives away nothing that is read-only.
speaks_dlpack_1 = pytest.mark.skipif(
    np.lib.NumpyVersion(np.__version__) < "2.1.0", reason="NumPy's DLPack is older than 1.0"
)

NUMPY_TYPES = {"f32": "f4", "f16": "f2", "u8": "u1", "u16": "u2", "u32": "u4", "i32": "i4"}
TORCH_TYPES = {"f32": "float32", "f16": "float16", "bf16": "bfloat16", "u8": "uint8"}


class Tensor:
    """An exporter of DLPack that has no buffer protocol, as most tensors have none."""

    def __init__(self, array, versioned=True, device=(1, 0)):
        self.array, self.versioned, self.device = array, versioned, device

    def __dlpack_device__(self):
        return self.device

    def __dlpack__(self, **options):
        if self.versioned:
            return self.array.__dlpack__(**options)
        if options:
            raise TypeError("no versions here")
        return self.array.__dlpack__()


def aligned(size, dtype="u1"):
    memory = np.zeros(size + 16, "u1")
    start = -memory.ctypes.data % 16
    return memory[start : start + size].view(dtype)


# ---- out -----------------------------------------------------------------------------------------


@speaks_dlpack_1
@pytest.mark.parametrize("name", NUMPY_TYPES)
def test_numpy_sees_the_memory(device, name):
    buffer = device.alloc((2, 3, 4), name)
    array = np.from_dlpack(buffer)
    assert (array.dtype, array.shape) == (np.dtype(NUMPY_TYPES[name]), (2, 3, 4))
    assert np.shares_memory(array, np.asarray(buffer))
    array[:] = 3
    assert (np.asarray(buffer) == 3).all()


def test_views_start_where_they_start(device):
    buffer = device.alloc(64, "u8")
    np.asarray(buffer)[:] = np.arange(64)
    assert np.from_dlpack(buffer.view(16, (2, 4), "u8")).tolist() == [
        [16, 17, 18, 19],
        [20, 21, 22, 23],
    ]


def test_the_device_is_the_cpu(device):
    buffer = device.alloc(4, "u8")
    assert buffer.__dlpack_device__() == (1, 0)
    assert buffer.__dlpack__(dl_device=(1, 0), max_version=(1, 0))
    for wrong in ({"dl_device": (8, 0)}, {"stream": 1}):
        with pytest.raises(BufferError, match="on the CPU"):
            buffer.__dlpack__(**wrong)


@speaks_dlpack_1
def test_read_only_memory_needs_a_version_that_says_so(device):
    buffer = device.wrap(bytes(range(64)))
    array = np.from_dlpack(buffer)
    assert not array.flags.writeable
    assert array.tolist() == list(range(64))
    with pytest.raises(BufferError, match=r"max_version=\(1, 0\)"):
        buffer.__dlpack__()


@speaks_dlpack_1
def test_a_copy_is_memory_of_its_own(device):
    buffer = device.wrap(bytes(range(64)))
    array = np.from_dlpack(buffer, copy=True)
    array[:] = 0
    assert bytes(buffer) == bytes(range(64))


@speaks_dlpack_1
def test_the_consumer_keeps_the_memory(device, host):
    objects = host.live_objects()
    array = np.from_dlpack(device.alloc(1 << 16, "u8"))
    gc.collect()
    assert host.live_objects() == objects + 1
    array[:] = 1
    del array
    assert host.live_objects() == objects


@pytest.mark.parametrize("version", [None, (1, 0)])
def test_a_capsule_that_nobody_takes_gives_back(device, host, version):
    objects = host.live_objects()
    capsule = device.alloc(64, "u8").__dlpack__(max_version=version)
    assert host.live_objects() == objects + 1
    del capsule
    assert host.live_objects() == objects


def test_exported_memory_is_not_released(device):
    buffer = device.alloc(64, "u8")
    array = np.from_dlpack(buffer)
    with pytest.raises(fm.errors.InvalidState, match="has 1 user "):
        buffer.release()
    del array
    buffer.release()
    with pytest.raises(BufferError, match="released"):
        buffer.__dlpack__(max_version=(1, 0))


# ---- in ------------------------------------------------------------------------------------------


@speaks_dlpack_1
@pytest.mark.parametrize("versioned", [True, False])
@pytest.mark.parametrize("name", NUMPY_TYPES)
def test_tensors_are_used_in_place(device, name, versioned):
    source = aligned(96, NUMPY_TYPES[name]).reshape(2, -1)
    buffer = device.wrap(Tensor(source, versioned))
    assert (buffer.dtype, buffer.shape) == (name, source.shape)
    assert buffer.address == source.ctypes.data
    # What has no version cannot say that it is read-only.
    assert buffer.read_only != versioned


@speaks_dlpack_1
def test_read_only_tensors_stay_read_only(device):
    source = aligned(64)
    source.flags.writeable = False
    assert device.wrap(Tensor(source)).read_only


LAYOUTS = {
    "step": lambda a: a[::2],
    "transposed": lambda a: a.T,
    "column": lambda a: a[:, 1],
    "backward": lambda a: a[::-1],
    "broadcast": lambda a: np.broadcast_to(a[0], (3, 8)),
}


@speaks_dlpack_1
@pytest.mark.parametrize("layout", LAYOUTS)
def test_other_layouts_are_refused_or_copied(device, layout):
    source = LAYOUTS[layout](np.arange(48, dtype="f4").reshape(6, 8))
    with pytest.raises(InvalidArgument, match="not C-contiguous"):
        device.wrap(Tensor(source))
    buffer = device.wrap(Tensor(source), copy=None)
    assert np.array_equal(np.asarray(buffer), source)
    assert buffer.read_only


def test_the_tensor_is_let_go_with_the_last_handle(device):
    source = aligned(64)
    memory = weakref.ref(source.base)
    buffer = device.wrap(Tensor(source))
    view = buffer.view(0, 16, "u8")
    del source, buffer
    assert memory() is not None
    del view
    assert memory() is None


REFUSED = {
    "by Metal": Tensor,
    "for its strides": lambda source: Tensor(source[::2]),
    "for its type": lambda source: Tensor(source.view("f8")),
    "for its type, unversioned": lambda source: Tensor(source.view("f8"), versioned=False),
}


@pytest.mark.parametrize("reason", REFUSED)
def test_refused_tensors_are_let_go(device, host, reason):
    source = aligned(64)

    def refuse():
        host.set_faults("nocopy")
        with pytest.raises(fm.errors.FlashMetalError):
            device.wrap(REFUSED[reason](source))

    refuse()
    gc.collect()
    references = sys.getrefcount(source.base)
    for _ in range(20):
        refuse()
    gc.collect()
    # Not within the assertion, which keeps what it compares.
    after = sys.getrefcount(source.base)
    assert after == references


@speaks_dlpack_1
@pytest.mark.parametrize("dtype", ["f8", "i8", "u8", "i2", "i1", "?", "c8"])
def test_other_types_are_refused(device, dtype):
    with pytest.raises(UnsupportedDtype, match="DLPack's type"):
        device.wrap(Tensor(np.zeros(8, dtype)))


def test_memory_elsewhere_is_refused(device):
    with pytest.raises(InvalidArgument, match=r"device type 2.*\.cpu\(\)"):
        device.wrap(Tensor(np.zeros(8, "f4"), device=(2, 0)))


RUBBISH = [None, (), (1,), 1, "ab", ("x", 0), ZeroDivisionError("its own")]


@pytest.mark.parametrize("answer", RUBBISH, ids=repr)
def test_rubbish_instead_of_a_device_is_refused(device, answer):
    class Wrong(Tensor):
        def __dlpack_device__(self):
            if isinstance(answer, Exception):
                raise answer
            return answer

        def __dlpack__(self, **options):
            return None

    for call in (device.wrap, lambda tensor: fm.from_dlpack(tensor, device)):
        with pytest.raises(InvalidArgument, match=r"wrap: obj: Wrong does not say|no capsule"):
            call(Wrong(None))


@pytest.mark.parametrize("error", [KeyError, AttributeError, OSError, ZeroDivisionError])
def test_what_an_exporter_raises_is_told(device, error):
    class Wrong(Tensor):
        def __dlpack__(self, **options):
            raise error("its own")

    with pytest.raises(InvalidArgument, match=r"Wrong does not export its memory: .*its own"):
        device.wrap(Wrong(None))


def test_a_capsule_says_where_its_memory_lies(device):
    class Elsewhere(Tensor):
        def __dlpack__(self, **options):
            capsule = np.zeros(64, "f4").__dlpack__()
            pointer = ctypes.pythonapi.PyCapsule_GetPointer
            pointer.restype, pointer.argtypes = ctypes.c_void_p, (ctypes.py_object, ctypes.c_char_p)
            # DLTensor.device_type, behind the pointer to the data.
            ctypes.c_int32.from_address(pointer(capsule, b"dltensor") + 8).value = 2
            return capsule

    with pytest.raises(InvalidArgument, match="device type 2"):
        device.wrap(Elsewhere(None))


def test_a_capsule_is_taken_once(device):
    class Again(Tensor):
        def __dlpack__(self, **options):
            return self.array

    tensor = Again(aligned(64).__dlpack__())
    device.wrap(tensor)
    with pytest.raises(InvalidArgument, match="no capsule of a tensor"):
        device.wrap(tensor)


@pytest.mark.parametrize("source", [np.ndarray, fm.Buffer, Tensor], ids=repr)
def test_classes_have_no_memory(device, source):
    with pytest.raises(InvalidArgument, match="wrap: obj must have the buffer protocol"):
        device.wrap(source)


@pytest.mark.parametrize("version", [5, (), (1,), ("1", 0), (None, 1)], ids=repr)
def test_a_version_is_two_integers(device, version):
    with pytest.raises(InvalidArgument, match="max_version"):
        device.alloc(4, "u8").__dlpack__(max_version=version)


@pytest.mark.parametrize("other", ["cpu", 0, 1, ""], ids=repr)
def test_from_dlpack_takes_devices_of_this_package(other):
    with pytest.raises(InvalidArgument, match=r"device must be a flashmetal\.Device"):
        fm.from_dlpack(np.zeros(4, "f4"), other)


def test_a_capsule_is_demanded(device):
    class Wrong(Tensor):
        def __dlpack__(self, **options):
            return 5

    with pytest.raises(InvalidArgument, match="no capsule of a tensor, got 5"):
        device.wrap(Wrong(None))


def test_no_bytes_are_refused(device):
    with pytest.raises(InvalidArgument, match="Buffer byte length must be > 0"):
        device.wrap(Tensor(np.zeros((4, 0), "f4")))


@speaks_dlpack_1
def test_a_buffer_comes_back_as_itself(device):
    buffer = device.alloc((4, 4), "f32")
    row = device.wrap(Tensor(np.from_dlpack(buffer)[2]))
    assert (row.byte_offset, row.byte_len) == (32, buffer.byte_len)


@pytest.mark.keeps_objects
def test_from_dlpack_needs_no_device(device):
    source = aligned(64, "f4")
    assert fm.from_dlpack(Tensor(source)).address == source.ctypes.data
    assert fm.from_dlpack(Tensor(source), device).device is device
    assert fm.from_dlpack(Tensor(source[::2]), copy=None).shape == (8,)


# ---- other libraries, where they are installed ---------------------------------------------------


@pytest.fixture
def torch():
    return pytest.importorskip("torch")


@pytest.mark.parametrize("name", TORCH_TYPES)
def test_torch_both_ways(device, torch, name):
    dtype = getattr(torch, TORCH_TYPES[name])
    tensor = torch.arange(64).to(dtype).reshape(4, 16)
    buffer = device.wrap(tensor)
    assert (buffer.dtype, buffer.shape, buffer.read_only) == (name, (4, 16), False)
    assert buffer.address == tensor.data_ptr()
    back = torch.from_dlpack(buffer)
    assert (back.data_ptr(), back.dtype) == (tensor.data_ptr(), dtype)
    back[0, 0] = 9
    assert tensor[0, 0] == 9


def test_torch_frees_on_a_thread_of_its_own(device, torch, host):
    objects = host.live_objects()
    held = [torch.from_dlpack(device.alloc(1 << 12, "f32"))]
    thread = threading.Thread(target=held.clear)
    thread.start()
    thread.join()
    assert host.live_objects() == objects


def test_torch_tensors_with_gradients_are_refused(device, torch):
    with pytest.raises(InvalidArgument, match="detach"):
        device.wrap(torch.zeros(16, requires_grad=True))


JAX = """
import jax.numpy as jnp
import numpy as np
import flashmetal as fm

device = fm.Device()
for name, ours in (("float16", "f16"), ("bfloat16", "bf16"), ("float32", "f32")):
    source = jnp.arange(1024).astype(name).reshape(8, 128)
    buffer = device.wrap(source, copy=None)
    assert (buffer.dtype, buffer.read_only) == (ours, True)
    assert np.array_equal(buffer.numpy().astype("f4"), np.asarray(source).astype("f4"))
buffer = device.alloc((4, 64), "f32")
np.asarray(buffer)[:] = 2
assert float(jnp.from_dlpack(buffer).sum()) == 512
"""


@pytest.mark.skipif(importlib.util.find_spec("jax") is None, reason="jax is not installed")
def test_jax_both_ways():
    # In a process of its own: a process that has loaded JAX must not fork, as other tests do.
    found = subprocess.run([sys.executable, "-c", JAX], capture_output=True, text=True, check=False)
    assert found.returncode == 0, found.stderr


@pytest.mark.parametrize("name", ["float16", "bfloat16", "float32"])
def test_mlx_arrays_come_in(device, name):
    mx = pytest.importorskip("mlx.core")
    source = mx.ones((8, 128), getattr(mx, name))
    mx.eval(source)
    buffer = device.wrap(source, copy=None)
    assert buffer.dtype == {"float16": "f16", "bfloat16": "bf16", "float32": "f32"}[name]
    assert (buffer.numpy().astype("f4") == 1).all()
