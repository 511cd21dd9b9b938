"""Products of tensors by matmul2d against NumPy, in each order of threads.

The elements are small integers, so that every sum is exact and what is stored is the exact result,
rounded once.
"""

import itertools
import pathlib
import struct
import zlib
from typing import NamedTuple

import numpy as np
import pytest

import flashmetal as fm

ml_dtypes = pytest.importorskip("ml_dtypes")

SOURCE = (pathlib.Path(__file__).parent / "msl" / "tensor_matmul.metal").read_text("utf-8")
LANES = 32
DTYPES = {
    "half": np.float16,
    "bfloat": ml_dtypes.bfloat16,
    "float": np.float32,
    "char": np.int8,
    "uchar": np.uint8,
    "int": np.int32,
}
THREADS = {
    "execution_thread": 1,
    "execution_simdgroup": LANES,
    **{f"execution_simdgroups<{n}>": n * LANES for n in (1, 2, 4, 8)},
}


class Variant(NamedTuple):
    """An instantiation of one of the kernels."""

    kernel: str
    types: tuple[str, str, str] = ("half", "half", "float")
    tile: tuple[int, int, int] = (32, 64, 0)
    transposed: tuple[bool, bool] = (False, False)
    accumulate: bool = False
    scope: str = "execution_simdgroups<4>"

    @property
    def name(self):
        return f"product_{zlib.crc32(repr(tuple(self)).encode()):08x}"

    @property
    def instantiation(self):
        flags = (*self.transposed, self.accumulate)
        arguments = (*self.types, *map(str, self.tile), *(str(flag).lower() for flag in flags))
        function = f"{self.kernel}<{', '.join(arguments)}, {self.scope}>"
        return (
            f"typedef decltype({function}) {self.name}_t;\n"
            f'template [[host_name("{self.name}")]] kernel {self.name}_t {function};\n'
        )

    def __str__(self):
        turned = "".join("NT"[flag] for flag in self.transposed)
        parts = (self.kernel, *self.types, "x".join(map(str, self.tile)), turned)
        return "-".join((*parts, "add" if self.accumulate else "set", self.scope))


BOTH = list(itertools.product((False, True), repeat=2))
KERNELS = ("in_memory", "in_registers", "in_threadgroup", "all_in_registers")
TYPES = [
    ("half", "half", "half"),
    ("bfloat", "bfloat", "float"),
    ("bfloat", "bfloat", "bfloat"),
    ("float", "float", "float"),
    ("half", "float", "float"),
    ("bfloat", "half", "float"),
    ("char", "char", "int"),
    ("uchar", "char", "int"),
    ("char", "char", "float"),
    ("char", "half", "half"),
]
TILES = [(16, 16, 32), (64, 32, 16), (16, 8, 48), (8, 16, 16), (1, 32, 32), (48, 40, 16)]
IN_REGISTERS = dict.fromkeys(KERNELS, (16, 32, 32)) | {"in_memory": (32, 64, 0)}
VARIANTS = [
    *(
        Variant(kernel, tile=IN_REGISTERS[kernel], transposed=transposed, accumulate=accumulate)
        for kernel in KERNELS
        for transposed in BOTH
        for accumulate in (False, True)
    ),
    *(
        Variant(kernel, types, tile=(16, 32, 16), transposed=(False, True), accumulate=True)
        for kernel in ("in_memory", "in_registers")
        for types in TYPES
    ),
    *(Variant(kernel, tile=tile) for kernel in KERNELS[1:3] for tile in TILES),
    *(
        Variant(kernel, tile=(32, 16, 16), scope=scope, accumulate=True)
        for kernel in KERNELS
        for scope in THREADS
    ),
]
# Rows, columns and depth of whole matrices: whole tiles, edges in every dimension, many blocks.
SIZES = [(64, 64, 64), (37, 53, 29), (5, 3, 300), (1, 1, 1)]


class Layout(NamedTuple):
    """Where the elements of a matrix lie: gaps between columns and rows, and which is innermost."""

    gap: int
    padding: int
    by_columns: bool = False


LAYOUTS = [Layout(1, 0), Layout(1, 5), Layout(1, 3, by_columns=True), Layout(2, 1)]


class Matrix:
    """A matrix in a buffer whose other elements are filled with a marker."""

    def __init__(self, device, values, layout):
        rows, columns = values.shape
        outer, inner = (columns, rows) if layout.by_columns else (rows, columns)
        pitch = inner * layout.gap + layout.padding
        self.shape = (rows, columns)
        self.strides = (1, pitch) if layout.by_columns else (pitch, layout.gap)
        self.buffer = device.alloc(outer * pitch * values.itemsize, "u8")
        memory = np.asarray(self.buffer).view(values.dtype)
        memory[:] = 99 if values.dtype.kind in "iu" else np.nan
        self.memory = memory
        self.view[...] = values

    @property
    def view(self):
        strides = tuple(stride * self.memory.itemsize for stride in self.strides)
        return np.lib.stride_tricks.as_strided(self.memory, self.shape, strides)

    @property
    def words(self):
        return struct.pack("4i", *self.shape[::-1], *self.strides[::-1])

    def others(self):
        """The elements around the matrix, as bytes."""
        copy = Matrix.__new__(Matrix)
        copy.shape, copy.strides, copy.memory = self.shape, self.strides, self.memory.copy()
        copy.view[...] = 0
        return copy.memory.tobytes()


# One text for all, so that the compiler runs once.
ALL = SOURCE + "".join(variant.instantiation for variant in VARIANTS)


@pytest.fixture(params=["highest", "lowest", "random"])
def registry(request):
    return fm.KernelRegistry(fm.Device(order=request.param, seed=7, threads=1))


def small_integers(rng, shape, name):
    least = 0 if name == "uchar" else -3
    return rng.integers(least, 4, shape).astype(DTYPES[name])


def run(registry, variant, left, right, result):
    m, n, _ = variant.tile
    rows, columns = result.shape
    threads = THREADS[variant.scope]
    pipeline = registry.get_pipeline(variant.name)
    arguments = {
        **dict(enumerate(matrix.buffer for matrix in (left, right, result))),
        3: left.words + right.words + result.words,
    }
    grid = (-(-columns // n), -(-rows // m), 1)
    with registry.device.encoder() as encoder:
        encoder.dispatch(pipeline, arguments, grid, (threads, 1, 1))


@pytest.mark.slow
@pytest.mark.parametrize("variant", VARIANTS, ids=str)
def test_product(registry, variant):
    registry.register_source(variant.name, ALL)
    rng = np.random.default_rng(zlib.crc32(str(variant).encode()))
    left_type, right_type, result_type = variant.types
    in_one_step = variant.kernel in {"in_memory", "in_threadgroup"} and variant.tile[2] != 0
    for case, (rows, columns, depth) in enumerate(SIZES):
        used = variant.tile[2] if in_one_step else depth
        left = small_integers(rng, (rows, depth), left_type)
        right = small_integers(rng, (depth, columns), right_type)
        before = small_integers(rng, (rows, columns), result_type)
        expected = left[:, :used].astype(np.float64) @ right[:used].astype(np.float64)
        if variant.accumulate:
            expected += before.astype(np.float64)
        turned = [
            matrix.T if transposed else matrix
            for matrix, transposed in zip((left, right), variant.transposed, strict=True)
        ]
        layouts = [LAYOUTS[(case + i) % len(LAYOUTS)] for i in range(3)]
        matrices = [
            Matrix(registry.device, values, layout)
            for values, layout in zip((*turned, before), layouts, strict=True)
        ]
        around = matrices[2].others()
        run(registry, variant, *matrices)
        actual = matrices[2].view
        message = f"{rows}x{columns}x{depth}, {layouts}"
        assert np.array_equal(actual, expected.astype(actual.dtype)), message
        assert matrices[2].others() == around, message


@pytest.mark.parametrize("math_mode", ["safe", "relaxed", "fast"])
def test_long_sums_are_kept_in_float(device, math_mode):
    variant = Variant("in_memory", ("half", "half", "half"), (64, 64, 0))
    registry = fm.KernelRegistry(device)
    options = fm.CompileOptions(math_mode=math_mode)
    registry.register_source(variant.name, SOURCE + variant.instantiation, options=options)
    rng = np.random.default_rng(3)
    rows, columns, depth = 70, 65, 3000
    left = rng.standard_normal((rows, depth)).astype(np.float16)
    right = rng.standard_normal((depth, columns)).astype(np.float16)
    zeros = np.zeros((rows, columns), np.float16)
    matrices = [Matrix(device, values, LAYOUTS[0]) for values in (left, right, zeros)]
    run(registry, variant, *matrices)
    exact = left.astype(np.float64) @ right.astype(np.float64)
    # Each of `depth` additions rounds a partial sum, the store rounds once to half.
    magnitudes = np.abs(left).astype(np.float64) @ np.abs(right).astype(np.float64)
    bound = depth * 2.0**-24 * magnitudes + 2.0**-11 * np.abs(exact) + 2.0**-25
    assert np.all(np.abs(matrices[2].view - exact) <= bound)
