"""Whole kernels as libraries for machine learning ship them, against NumPy, in each order.

The checks of memory have nothing to say against them.
"""

import functools
import pathlib

import numpy as np
import pytest

import flashmetal as fm

FOLDER = pathlib.Path(__file__).parent / "msl"
ROWS, ARRAYS = ((FOLDER / name).read_text("utf-8") for name in ("ml_rows.metal", "ml_arrays.metal"))
ORDERS = ("highest", "lowest", "random")
SHAPES = [(3, 1), (2, 33), (4, 257)]

# Each text is compiled once, and its kernels kept from test to test.
pytestmark = pytest.mark.keeps_objects


@functools.cache
def registry(mode):
    if mode == "checked":
        return fm.KernelRegistry(fm.Device(engine="simt", checks=True))
    return fm.KernelRegistry(fm.Device(order=mode, seed=7))


@pytest.fixture(params=[*ORDERS, pytest.param("checked", marks=pytest.mark.slow)])
def run(request):
    """Runs a kernel over arrays and scalars by index; gives back the array `out`."""

    def call(text, name, args, out, grid, group):
        kernels = registry(request.param)
        kernels.register_source(name, text)
        device = kernels.device
        buffers = {}
        for index, given in args.items():
            array = np.asarray(given)
            buffers[index] = device.alloc(array.shape or (1,), array.dtype)
            np.asarray(buffers[index])[...] = array
        with device.encoder() as encoder:
            encoder.dispatch_threads(kernels.get_pipeline(name), buffers, grid, group)
        return np.array(buffers[out])

    return call


def numbers(*shape, seed=1):
    return np.random.default_rng(seed).standard_normal(shape).astype(np.float32)


def over_rows(run, name, x, *more, dtype=None, columns=None, group=96):
    out = np.zeros((len(x), columns) if columns else len(x), dtype or x.dtype)
    args = {0: x, 1: out, 2: np.uint32(x.shape[1]), **dict(enumerate(more, 3))}
    return run(ROWS, name, args, 1, (len(x) * group, 1, 1), (group, 1, 1))


def softmax_reference(x):
    e = np.exp(np.float64(x) - x.max(axis=-1, keepdims=True))
    return e / e.sum(axis=-1, keepdims=True)


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize(("name", "dtype", "bound"), [("float", "f4", 1e-6), ("half", "f2", 1e-3)])
def test_softmax(run, name, dtype, bound, shape):
    x = numbers(*shape).astype(dtype)
    got = over_rows(run, f"softmax_{name}", x, columns=shape[1])
    assert np.allclose(got, softmax_reference(x), rtol=bound, atol=bound)


@pytest.mark.parametrize("shape", SHAPES)
def test_rms_norm(run, shape):
    x, weight = numbers(*shape), numbers(shape[1], seed=2)
    want = x / np.sqrt((np.float64(x) ** 2).mean(axis=1, keepdims=True) + 1e-5) * weight
    assert np.allclose(over_rows(run, "rms_norm", x, weight, columns=shape[1]), want, atol=1e-5)


@pytest.mark.parametrize("shape", SHAPES)
def test_layer_norm(run, shape):
    x, weight, bias = numbers(*shape), numbers(shape[1], seed=2), numbers(shape[1], seed=3)
    wide = np.float64(x)
    centred = wide - wide.mean(axis=1, keepdims=True)
    want = centred / np.sqrt(wide.var(axis=1, keepdims=True) + 1e-5) * weight + bias
    got = over_rows(run, "layer_norm", x, weight, bias, columns=shape[1])
    assert np.allclose(got, want, atol=1e-5)


@pytest.mark.parametrize("shape", SHAPES)
def test_sum(run, shape):
    x = np.round(numbers(*shape) * 8)
    assert np.array_equal(over_rows(run, "sum_rows", x), x.sum(axis=1))


@pytest.mark.parametrize("shape", SHAPES)
def test_argmax_takes_the_first(run, shape):
    x = np.round(numbers(*shape))
    assert np.array_equal(over_rows(run, "argmax_rows", x, dtype="u4"), x.argmax(axis=1))


@pytest.mark.parametrize("shape", SHAPES)
def test_scan(run, shape):
    x = np.round(numbers(*shape) * 8)
    got = over_rows(run, "scan_rows", x, columns=shape[1])
    assert np.array_equal(got, x.cumsum(axis=1))


@pytest.mark.parametrize("shape", SHAPES)
def test_bitonic_sort(run, shape):
    x = numbers(*shape)
    got = over_rows(run, "sort_rows", x, columns=shape[1], group=512)
    assert np.array_equal(got, np.sort(x, axis=1))


def test_rope(run):
    heads, tokens, half_width, offset = 2, 5, 32, 11
    x = numbers(heads, tokens, 2 * half_width).astype("f2")
    args = {0: x, 1: np.zeros_like(x), 2: np.float32(10000), 3: np.uint32(offset)}
    got = run(ARRAYS, "rope", args, 1, (half_width, tokens, heads), (16, 1, 1))
    angle = np.outer(np.arange(tokens) + offset, 10000.0 ** -(np.arange(half_width) / half_width))
    a, b = np.float64(x[..., :half_width]), np.float64(x[..., half_width:])
    want = [a * np.cos(angle) - b * np.sin(angle), a * np.sin(angle) + b * np.cos(angle)]
    assert np.allclose(got, np.concatenate(want, axis=-1), atol=4e-3)


def test_silu_multiply(run):
    gate, up = numbers(100), numbers(100, seed=2)
    args = {0: gate, 1: up, 2: np.zeros_like(gate)}
    got = run(ARRAYS, "silu_multiply", args, 2, (25, 1, 1), (8, 1, 1))
    assert np.allclose(got, gate / (1 + np.exp(-np.float64(gate))) * up, atol=1e-6)


def test_gelu(run):
    x = numbers(77)
    got = run(ARRAYS, "gelu", {0: x, 1: np.zeros_like(x)}, 1, (77, 1, 1), (32, 1, 1))
    wide = np.float64(x)
    want = 0.5 * wide * (1 + np.tanh(np.sqrt(2 / np.pi) * (wide + 0.044715 * wide**3)))
    assert np.allclose(got, want, atol=1e-6)


@pytest.mark.parametrize("shape", [(1, 1), (16, 32), (45, 19)])
def test_transpose(run, shape):
    x = numbers(*shape)
    args = {0: x, 1: np.zeros(shape[::-1], "f4"), 2: np.array(shape, "u4")}
    rows, columns = (-(-side // 16) * 16 for side in shape)
    got = run(ARRAYS, "transpose", args, 1, (columns, rows, 1), (16, 16, 1))
    assert np.array_equal(got, x.T)


def test_gather(run):
    table, rows = numbers(9, 50), np.array([3, -1, 0, 8, 3], "i4")
    args = {0: table, 1: rows, 2: np.zeros((5, 50), "f4"), 3: np.int32(9)}
    assert np.array_equal(run(ARRAYS, "gather_rows", args, 2, (50, 5, 1), (32, 2, 1)), table[rows])


def test_histogram(run):
    x = np.random.default_rng(1).integers(0, 5, 3000, dtype="u1")
    args = {0: x, 1: np.zeros(8, "u4")}
    got = run(ARRAYS, "histogram", args, 1, (3000, 1, 1), (256, 1, 1))
    assert np.array_equal(got, np.bincount(x, minlength=8))


def test_random_bits_are_philox(run):
    key = (0x12345678, 0x9ABCDEF0)
    args = {0: np.array(key, "u4"), 1: np.zeros((70, 4), "u4")}
    got = run(ARRAYS, "random_bits", args, 1, (70, 1, 1), (64, 1, 1))
    for counter in (0, 1, 69):
        x, k = [counter, 0, 0, 0], list(key)
        for _ in range(10):
            low, high = 0xD2511F53 * x[0], 0xCD9E8D57 * x[2]
            x = [high >> 32 ^ x[1] ^ k[0], high % 2**32, low >> 32 ^ x[3] ^ k[1], low % 2**32]
            k = [(k[0] + 0x9E3779B9) % 2**32, (k[1] + 0xBB67AE85) % 2**32]
        assert got[counter].tolist() == x


def blocks_of(count):
    """Blocks of 4-bit values as bytes, and the values."""
    random = np.random.default_rng(5)
    scale = random.uniform(0.1, 1, count).astype("f2")
    nibbles = random.integers(0, 16, (count, 32), dtype="u1")
    packed = nibbles[:, :16] | nibbles[:, 16:] << 4
    bytes_ = np.concatenate([scale.view("u1").reshape(count, 2), packed], axis=1)
    return bytes_, np.float64(scale)[:, None] * (nibbles.astype(int) - 8)


def test_dequantize(run):
    packed, values = blocks_of(7)
    args = {0: packed, 1: np.zeros((7, 32), "f4")}
    got = run(ARRAYS, "dequantize", args, 1, (7 * 32, 1, 1), (64, 1, 1))
    assert np.array_equal(got, values.astype("f4"))


@pytest.mark.parametrize("blocks", [1, 16, 21])
def test_gemv_of_4_bit_blocks(run, blocks):
    rows = 5
    packed, values = blocks_of(rows * blocks)
    x = numbers(blocks * 32)
    args = {0: packed, 1: x, 2: np.zeros(rows, "f4"), 3: np.uint32(blocks)}
    got = run(ARRAYS, "gemv_4bit", args, 2, (rows * 32, 1, 1), (32, 1, 1))
    assert np.allclose(got, values.reshape(rows, -1) @ np.float64(x), rtol=1e-5, atol=1e-4)


@pytest.mark.parametrize("length", [1, 32, 77])
def test_decode_attention(run, length):
    q, k, v = numbers(2, 64), numbers(2, length, 64, seed=2), numbers(2, length, 64, seed=3)
    k, v = k.astype("f2"), v.astype("f2")
    args = {0: q, 1: k, 2: v, 3: np.zeros_like(q), 4: np.uint32(length)}
    got = run(ARRAYS, "attend", args, 3, (64, 1, 1), (32, 1, 1))
    weights = softmax_reference(np.einsum("hd,hkd->hk", np.float64(q), k) / 8)
    assert np.allclose(got, np.einsum("hk,hkd->hd", weights, np.float64(v)), atol=1e-5)


@pytest.mark.parametrize("shape", [(1, 1, 1), (17, 33, 20)])
def test_matmul_of_threads(run, shape):
    rows, columns, inner = shape
    a, b = numbers(rows, inner), numbers(inner, columns, seed=2)
    args = {0: a, 1: b, 2: np.zeros((rows, columns), "f4"), 3: np.array([*shape, 0], "u4")}
    grid = (-(-columns // 16) * 16, -(-rows // 16) * 16, 1)
    got = run(ARRAYS, "matmul_threads", args, 2, grid, (16, 16, 1))
    assert np.allclose(got, a.astype(float) @ b, atol=1e-5)


@pytest.mark.parametrize(("name", "dtype"), [("float", "f4"), ("half", "f2")])
def test_matmul_of_simdgroup_matrices(run, name, dtype):
    a, b = numbers(64, 24).astype(dtype), numbers(24, 32, seed=2).astype(dtype)
    args = {0: a, 1: b, 2: np.zeros((64, 32), "f4"), 3: np.array([64, 32, 24, 0], "u4")}
    got = run(ARRAYS, f"matmul_{name}", args, 2, (128, 2, 1), (128, 1, 1))
    assert np.allclose(got, np.float64(a) @ np.float64(b), atol=1e-4)
