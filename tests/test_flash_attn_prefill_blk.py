"""The classifier of mask tiles: its classes cell by cell, its checks, what it does not touch."""

import itertools
import mmap

import numpy as np
import pytest

import flashmetal as fm
from flashmetal import _host
from flashmetal.ops.flash_attn_prefill_blk import (
    BQ,
    KERNELS,
    BlkParams,
    blk_buffer_byte_len,
    blk_shape,
    dispatch_flash_attn_prefill_blk,
    register,
)

PAIRS = [(32, 64), (16, 64)]
DTYPES = ("f16", "bf16")
HIDDEN, MIXED, OPEN = range(3)
CANARY = 7


@pytest.fixture(scope="module")
def registry(device):
    registry = fm.KernelRegistry(device)
    register(registry)
    for kernel, (bq, bk) in itertools.product(KERNELS.values(), PAIRS):
        registry.get_pipeline(kernel, {BQ: bq, BQ + 1: bk})
    return registry


def upload(device, array, dtype):
    buffer = device.alloc(array.shape, dtype)
    if dtype == "bf16":  # the upper half of an f32
        array = array.astype(np.float32).view(np.uint32) >> 16
    np.asarray(buffer)[...] = array
    return buffer


def classify(registry, mask, pair, dtype="f16", rows=None, keys=None):
    """Return the classes of a mask's tiles; the mask may have more rows and cells than count."""
    params = BlkParams(rows or mask.shape[0], keys or mask.shape[1], *pair, mask.shape[1])
    return classes_of(registry, upload(registry.device, mask, dtype), params)


def classes_of(registry, mask, params):
    blk = registry.device.alloc(blk_buffer_byte_len(params) + 32, "u8")
    np.asarray(blk)[...] = CANARY
    with registry.device.encoder() as encoder:
        dispatch_flash_attn_prefill_blk(encoder, registry, mask, blk, params)
    rows, tiles = blk_shape(params)
    classes, rest = np.split(np.array(blk), [rows * tiles])
    assert (rest == CANARY).all()
    return classes.reshape(rows, tiles)


def by_hand(mask, pair):
    """Classes as the contract words them."""
    rows, keys = (-(-size // tile) for size, tile in zip(mask.shape, pair, strict=True))
    classes = np.full((rows, keys), MIXED)
    for row, key in itertools.product(range(rows), range(mask.shape[1] // pair[1])):
        tile = mask[row * pair[0] :, key * pair[1] :][: pair[0], : pair[1]]
        if (tile <= -1e30).all():
            classes[row, key] = HIDDEN
        elif (tile == 0).all():
            classes[row, key] = OPEN
    return classes


# ---- classes -------------------------------------------------------------------------------------


@pytest.mark.parametrize("pair", PAIRS)
@pytest.mark.parametrize("dtype", DTYPES)
def test_all_patterns_of_ten_areas(registry, dtype, pair):
    """Each tile is cut into 2 by 5 areas, open or hidden: 1,024 tiles, in one row."""
    patterns = np.array(list(itertools.product([0.0, -np.inf], repeat=10))).reshape(-1, 2, 5)
    row = np.arange(pair[0]) * 2 // pair[0]
    key = np.arange(pair[1]) * 5 // pair[1]
    mask = patterns[:, row][:, :, key].transpose(1, 0, 2).reshape(pair[0], -1)
    classes = classify(registry, mask, pair, dtype)
    assert classes.shape == (1, 1024)
    assert (classes == by_hand(mask, pair)).all()
    assert [(classes == c).sum() for c in range(3)] == [1, 1022, 1]


def test_all_patterns_of_five_cells_of_four_values(device):
    """Tiles of one row and five cells, which are compiled for this test."""
    registry = fm.KernelRegistry(device)
    register(registry)
    values = [0.0, -np.inf, np.finfo(np.float16).min, np.nan]
    mask = np.array(list(itertools.product(values, repeat=5))).reshape(1, -1)
    classes = classify(registry, mask, (1, 5))
    assert classes.shape == (1, 1024)
    assert (classes == by_hand(mask, (1, 5))).all()


@pytest.mark.parametrize(("base", "needle"), [(-np.inf, 0), (0, -np.inf), (0, -1), (-np.inf, 1)])
@pytest.mark.parametrize("pair", PAIRS)
@pytest.mark.parametrize("dtype", DTYPES)
def test_one_other_cell_anywhere_makes_a_tile_mixed(registry, dtype, pair, base, needle):
    count = pair[0] * pair[1]
    tiles = np.full((count, *pair), base, np.float32)
    tiles.reshape(count, count)[np.arange(count), np.arange(count)] = needle
    mask = tiles.transpose(1, 0, 2).reshape(pair[0], -1)
    assert (classify(registry, mask, pair, dtype) == MIXED).all()


@pytest.mark.parametrize(
    ("dtype", "cell", "expected"),
    [
        ("f16", 0.0, OPEN),
        ("f16", -0.0, OPEN),
        ("f16", 6e-8, MIXED),
        ("f16", -6e-8, MIXED),
        ("f16", -65504.0, MIXED),
        ("f16", -np.inf, HIDDEN),
        ("f16", np.inf, MIXED),
        ("f16", np.nan, MIXED),
        ("bf16", -0.0, OPEN),
        ("bf16", 1e-40, MIXED),
        ("bf16", -9.9e29, MIXED),
        ("bf16", -1.01e30, HIDDEN),
        ("bf16", -3e38, HIDDEN),
        ("bf16", -np.inf, HIDDEN),
        ("bf16", np.nan, MIXED),
    ],
)
@pytest.mark.parametrize("pair", PAIRS)
def test_a_tile_of_one_value(registry, pair, dtype, cell, expected):
    assert classify(registry, np.full(pair, cell), pair, dtype) == expected


@pytest.mark.parametrize("value", [0.0, -np.inf, -1.0])
@pytest.mark.parametrize("keys", [1, 63, 65, 127, 129])
@pytest.mark.parametrize("pair", PAIRS)
def test_a_tile_cut_off_at_the_right_is_mixed(registry, pair, keys, value):
    classes = classify(registry, np.full((pair[0] + 1, keys), value), pair)
    assert (classes[:, -1] == MIXED).all()
    assert (classes == by_hand(np.full((pair[0] + 1, keys), value), pair)).all()


@pytest.mark.parametrize("below", [0.0, -np.inf, np.nan, 1.0])
@pytest.mark.parametrize("rows", [1, 7, 15, 17, 31, 33])
@pytest.mark.parametrize("pair", PAIRS)
def test_rows_below_the_mask_are_not_looked_at(registry, pair, rows, below):
    mask = np.full((rows + pair[0], 192), below)
    mask[:rows, :64] = -np.inf
    mask[:rows, 64:128] = 0
    mask[:rows, 128:] = 1
    classes = classify(registry, mask, pair, rows=rows)
    assert (classes == [HIDDEN, OPEN, MIXED]).all()


@pytest.mark.parametrize("between", [0.0, -np.inf, np.nan])
def test_cells_between_the_rows_are_not_looked_at(registry, between):
    mask = np.full((40, 200), between)
    mask[:, :64] = -np.inf
    mask[:, 64:128] = 0
    assert (classify(registry, mask, (32, 64), keys=128) == [HIDDEN, OPEN]).all()


@pytest.mark.parametrize("seed", range(20))
@pytest.mark.parametrize("pair", PAIRS)
def test_random_masks(registry, pair, seed):
    random = np.random.default_rng(seed)
    rows, keys = random.integers(1, 130), random.integers(1, 700)
    blocks = random.choice([0.0, -np.inf, -2.0], (17, 11))
    mask = np.repeat(np.repeat(blocks, 8, axis=0), 64, axis=1)[:rows, :keys]
    assert (classify(registry, mask, pair) == by_hand(mask, pair)).all()


@pytest.mark.parametrize("pair", PAIRS)
def test_offsets_pass_32_bits(registry, pair):
    """Rows 2²⁷ cells apart: tile rows start at 2³¹ cells, the last row at 2³²."""
    stride, rows, page_size = 2**27, 33, registry.device.page_size
    pages = -(-((rows - 1) * stride + 128) * 2 // page_size)
    flags = mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS | getattr(mmap, "MAP_NORESERVE", 0)
    cells = np.frombuffer(mmap.mmap(-1, pages * page_size, flags=flags), np.float16)
    for row in range(rows):
        cells[row * stride :][:64] = -np.inf
    params = BlkParams(rows, 128, *pair, stride)
    mask = registry.device.wrap(cells)
    assert (classes_of(registry, mask, params) == [HIDDEN, OPEN]).all()
    for row in (rows - 1, 17, 0):
        cells[row * stride + 63] = 0
        cells[row * stride + 127] = -1
        classes = classes_of(registry, mask, params)
        assert (classes[row // pair[0]] == MIXED).all()


# ---- shapes, names, precompiled pairs ------------------------------------------------------------


@pytest.mark.parametrize(
    ("sizes", "shape", "byte_len"),
    [
        ((1, 1, 32, 64), (1, 1), 32),
        ((32, 64, 32, 64), (1, 1), 32),
        ((33, 65, 32, 64), (2, 2), 32),
        ((1024, 64, 32, 64), (32, 1), 32),
        ((1025, 64, 32, 64), (33, 1), 64),
        ((100, 1344, 16, 64), (7, 21), 160),
        ((2**32 - 1, 2**32 - 1, 1, 1), (2**32 - 1, 2**32 - 1), (2**32 - 1) ** 2 + 31),
    ],
)
def test_shapes_and_sizes(sizes, shape, byte_len):
    params = BlkParams(*sizes)
    assert blk_shape(params) == shape
    assert blk_buffer_byte_len(params) == byte_len


def test_register_registers_both_kernels(device):
    registry = fm.KernelRegistry(device)
    register(registry)
    register(registry)
    assert registry.source_count == 2


@pytest.mark.parametrize("pair", PAIRS)
@pytest.mark.parametrize("kernel", KERNELS.values())
def test_two_sizes_of_tiles_need_no_compiler(device, kernel, pair):
    registry = fm.KernelRegistry(device)
    register(registry)
    before = _host.compile_count()
    registry.get_pipeline(kernel, {BQ: pair[0], BQ + 1: pair[1]})
    assert _host.compile_count() == before


def test_other_sizes_are_compiled(device):
    registry = fm.KernelRegistry(device)
    register(registry)
    mask = np.zeros((13, 23))
    mask[:7, :11] = -np.inf
    assert classify(registry, mask, (7, 11)).tolist() == [
        [HIDDEN, OPEN, MIXED],
        [OPEN, OPEN, MIXED],
    ]


def test_without_a_compiler_other_sizes_say_how_to_get_one(device, monkeypatch, tmp_path):
    registry = fm.KernelRegistry(device)
    register(registry)
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.delenv("FLASHMETAL_CLANG", raising=False)
    with pytest.raises(fm.errors.ShaderCompilationError) as caught:
        classify(registry, np.zeros((3, 5)), (3, 5))
    assert "kernels that are not shipped with the library need clang" in caught.value.message
    assert classify(registry, np.zeros((16, 64)), (16, 64)) == OPEN


# ---- checks, in their order ----------------------------------------------------------------------

PREFIX = "Invalid argument: flash_attn_prefill_blk: "


def refuse(registry, mask, blk, params):
    encoder = registry.device.encoder()
    with pytest.raises(fm.errors.InvalidArgument) as caught:
        dispatch_flash_attn_prefill_blk(encoder, registry, mask, blk, params)
    assert (encoder.dispatch_count, encoder.command_buffer_count) == (0, 0)
    assert str(caught.value).startswith(PREFIX)
    return str(caught.value).removeprefix(PREFIX)


def test_checks_run_in_the_documented_order(device, registry):
    """Each case is wrong in all that the cases after it are wrong in, too."""
    arena = device.alloc(1 << 15, "u8")
    frozen = device.wrap(np.zeros(1 << 15, np.uint8), copy=True)
    mask = arena.view(0, (40, 128), "f16")
    read_only = frozen.view(0, 64, "u8")
    good = BlkParams(40, 128, 32, 64)
    cases = [
        (None, None, bytes(16), "params must be BlkParams, got bytes"),
        (None, None, BlkParams(0, 2**31, 32, 64), "empty shape BlkParams(seq_len_q=0, seq_len_k="),
        (None, None, BlkParams(40, 0, 32, 64), "empty shape"),
        (None, None, BlkParams(40, 128, 0, 64), "empty shape"),
        (None, None, BlkParams(40, 128, 32, 0), "empty shape"),
        (None, None, BlkParams(2**31, 128, 32, 64), "a dimension exceeds i32: BlkParams(seq_len_q"),
        (None, None, BlkParams(40, 2**31, 32, 64), "a dimension exceeds i32"),
        (None, None, BlkParams(40, 128, 32, 64, 2**31), "a dimension exceeds i32"),
        (None, None, good, "mask must be a Buffer, got NoneType; device.wrap(array) makes one"),
        (arena, None, good, "mask must be f16 or bf16, got u8"),
        (arena.view(1, 9, "f16"), None, good, "mask holds 18 bytes, the strides need 10240"),
        (arena.view(1, 5120, "f16"), None, good, "blk must be a Buffer, got NoneType"),
        (arena.view(1, 5120, "f16"), frozen.view(0, 4, "f16"), good, "blk must be U8 with at "
         "least 4 bytes (bq 32, bk 64), got f16 8 bytes"),
        (arena.view(1, 5120, "f16"), frozen.view(0, 3, "u8"), good, "blk must be U8 with at least "
         "4 bytes (bq 32, bk 64), got u8 3 bytes"),
        (frozen.view(1, 5120, "f16"), read_only, good, "mask offset 1 is not a multiple of 2"),
        (frozen.view(0, 5120, "f16"), read_only, good, "blk overlaps mask"),
        (mask, read_only, good, "blk is read-only"),
    ]  # fmt: skip
    for mask_buffer, blk, params, text in cases:
        assert refuse(registry, mask_buffer, blk, params).startswith(text)


@pytest.mark.parametrize("offset", [0, 10236, 10239])
def test_classes_must_not_overlap_the_mask(device, registry, offset):
    arena = device.alloc(1 << 15, "u8")
    mask = arena.view(0, (40, 128), "f16")
    params = BlkParams(40, 128, 32, 64)
    assert refuse(registry, mask, arena.view(offset, 4, "u8"), params) == "blk overlaps mask"
    with device.encoder() as encoder:
        dispatch_flash_attn_prefill_blk(encoder, registry, mask, arena.view(10240, 4, "u8"), params)


def test_sizes_are_exact_beyond_64_bits(device, registry):
    largest = 2**31 - 1
    params = BlkParams(largest, largest, 32, 64)
    text = refuse(registry, device.alloc(8, "f16"), device.alloc(8, "u8"), params)
    assert text == f"mask holds 16 bytes, the strides need {2 * largest * largest}"


def test_rows_may_be_one_row_again_and_again(device, registry):
    mask = upload(device, np.array([-np.inf] * 64 + [0.0] * 64), "f16")
    classes = classes_of(registry, mask, BlkParams(50, 128, 16, 64, 0))
    assert (classes == [HIDDEN, OPEN]).all()


def test_one_dispatch_without_a_barrier(device, registry):
    encoder = device.encoder()
    mask, blk = device.alloc((40, 128), "f16"), device.alloc(32, "u8")
    dispatch_flash_attn_prefill_blk(encoder, registry, mask, blk, BlkParams(40, 128, 32, 64))
    assert (encoder.dispatch_count, encoder.barrier_count) == (1, 0)


def test_registry_of_another_device_is_refused(registry):
    other = fm.Device(max_threads=512)
    mask, blk = other.alloc((40, 128), "f16"), other.alloc(32, "u8")
    with pytest.raises(fm.errors.InvalidArgument, match="kernel registry is bound to Metal device"):
        dispatch_flash_attn_prefill_blk(
            other.encoder(), registry, mask, blk, BlkParams(40, 128, 32, 64)
        )
