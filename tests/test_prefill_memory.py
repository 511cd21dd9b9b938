"""What prefill attention reads and writes, and what its bits do not depend on."""

import itertools
import mmap

import numpy as np
import pytest
from engines import ENGINES
from prefill_families import FAMILIES
from prefill_runner import LAYOUTS, TAIL, PrefillRunner

import flashmetal as fm
from flashmetal._prefill_operation import CACHE_ROWS_PER_STEP
from flashmetal.prefill_problems import MASKS, PrefillShape, make_prefill_problem

KEYS = CACHE_ROWS_PER_STEP
SKIP, MIXED, OPEN = range(3)


@pytest.fixture
def run(prefill):
    return prefill.run


@pytest.fixture
def head_dim(prefill):
    return prefill.head_dim


@pytest.fixture(params=FAMILIES, ids=lambda family: family.name)
def run_family(request, engine, prefill_runners):
    """A runner alone, for tests that take one head_dim that all families serve."""
    return prefill_runners[request.param][ENGINES.index(engine)]


def bits(array):
    return array.view(np.uint32)


# ---- tile classes --------------------------------------------------------------------------------


@pytest.mark.parametrize("mask", MASKS)
def test_classes_change_no_bit(run, head_dim, mask):
    problems = [
        make_prefill_problem(PrefillShape(rows, 2, 1, head_dim, kv_len), mask=mask)
        for rows, kv_len in ((1, 64), (16, 65), (33, 200), (70, 448))
    ]
    calls = [run.prepare(problem) for problem in problems]
    ones = run.attend(calls)
    for with_classes, without in zip(run.run(calls), ones, strict=True):
        np.testing.assert_array_equal(bits(with_classes), bits(without))


def spoil_cells(call, tile_class):
    """Make the mask NaN in all tiles of a class; return how many there are."""
    tiles = np.argwhere(call.classes == tile_class)
    for tile_row, tile in tiles:
        rows, keys = tile_row * call.queries, tile * KEYS
        call.cells[rows : rows + call.queries, keys : keys + KEYS] = np.nan
    return len(tiles)


@pytest.mark.parametrize("tile_class", [SKIP, OPEN])
def test_the_mask_of_skipped_and_open_tiles_is_not_read(run, head_dim, tile_class):
    problem = make_prefill_problem(PrefillShape(70, 2, 1, head_dim, 448), mask="sliding")
    call = run.prepare(problem)
    expected = run.run([call])[0]
    assert spoil_cells(call, tile_class) > 0
    np.testing.assert_array_equal(run.attend([call])[0], expected)


def test_the_mask_of_mixed_tiles_is_read(run, head_dim):
    problem = make_prefill_problem(PrefillShape(70, 2, 1, head_dim, 448), mask="sliding")
    call = run.prepare(problem)
    run.run([call])
    assert spoil_cells(call, MIXED) > 0
    assert np.isnan(run.attend([call])[0]).any()


@pytest.mark.parametrize("poison", [np.nan, np.inf])
def test_keys_of_skipped_tiles_are_not_read(run, head_dim, poison):
    problem = make_prefill_problem(PrefillShape(20, 2, 1, head_dim, 320))
    problem.mask[:, 64:192] = -np.inf
    expected = run(problem)
    problem.k[64:192] = poison
    problem.v[64:192] = poison
    np.testing.assert_array_equal(run(problem), expected)


@pytest.mark.parametrize("skipped", range(4))
def test_a_class_counts_for_its_own_tile_alone(run, head_dim, skipped):
    """Tile rows with one skipped tile each: the result is that of a mask that hides the tile."""
    queries = run.family.op.queries_per_threadgroup(head_dim)
    problem = make_prefill_problem(PrefillShape(3 * queries, 2, 1, head_dim, 256))
    call = run.prepare(problem)
    for tile_row in range(3):
        tile = (tile_row + skipped) % 4
        call.classes[tile_row, tile] = SKIP
        rows, keys = tile_row * queries, tile * KEYS
        problem.mask[rows : rows + queries, keys : keys + KEYS] = -np.inf
    np.testing.assert_array_equal(run.attend([call])[0], run(problem))


# ---- poison --------------------------------------------------------------------------------------


@pytest.mark.parametrize("poison", [np.nan, np.inf, 1e4, -np.inf])
@pytest.mark.parametrize("layout", LAYOUTS)
def test_what_lies_between_and_behind_the_arguments_does_not_matter(run, head_dim, layout, poison):
    problem = make_prefill_problem(PrefillShape(19, 4, 2, head_dim, 100), mask="causal")
    expected = run(problem, layouts="packed", poison=0)
    out = run(problem, layouts=layout, poison=poison)
    np.testing.assert_array_equal(bits(out), bits(expected))


@pytest.mark.parametrize("layouts", list(itertools.permutations(LAYOUTS, 3)))
def test_q_k_and_v_have_strides_of_their_own(run, head_dim, layouts):
    problem = make_prefill_problem(PrefillShape(5, 4, 2, head_dim, 70), mask="random")
    np.testing.assert_array_equal(run(problem, layouts=layouts), run(problem))


def test_neighbouring_heads_do_not_matter(run, head_dim):
    problem = make_prefill_problem(PrefillShape(18, 3, 3, head_dim, 130), mask="causal")
    expected = run(problem)
    problem.q[:, [0, 2]] = np.nan
    problem.k[:, [0, 2]] = np.nan
    problem.v[:, [0, 2]] = np.nan
    np.testing.assert_array_equal(run(problem)[:, 1], expected[:, 1])


@pytest.mark.parametrize("rows", [1, 2, 15, 16, 17, 31, 32, 33, 63])
def test_rows_past_the_end_are_neither_read_nor_written(run, head_dim, rows):
    """The output's guard is checked in each run; here the mask and q end at the page."""
    problem = make_prefill_problem(PrefillShape(rows, 2, 1, head_dim, 70), mask="random")
    call = run.prepare(problem)
    expected = run.run([call])[0]
    assert np.isfinite(expected).all()
    at_end = call._replace(
        q=flush_with_the_end(run.device, call.q), mask=flush_with_the_end(run.device, call.mask)
    )
    np.testing.assert_array_equal(run.run([at_end])[0], expected)


def flush_with_the_end(device, buffer):
    """Copy a buffer, without its tail, to the end of an allocation; what follows is no memory."""
    values = np.asarray(buffer)[:-TAIL]
    size = -(-values.nbytes // device.page_size) * device.page_size
    whole = device.alloc(size, "u8")
    view = whole.view(size - values.nbytes, values.shape, buffer.dtype)
    np.asarray(view)[...] = values
    return view


# ---- long offsets --------------------------------------------------------------------------------


def sparse(count, dtype, page_size):
    """Zeros whose untouched pages take no memory."""
    pages = -(-count * np.dtype(dtype).itemsize // page_size)
    flags = mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS | getattr(mmap, "MAP_NORESERVE", 0)
    return np.frombuffer(mmap.mmap(-1, pages * page_size, flags=flags), dtype)[:count]


STRIDES = [f"{name}_{axis}_stride" for name in "qkv" for axis in ("row", "head")]


# 64 rows of k or v so far apart are more than a process may map.
@pytest.mark.parametrize(
    ("name", "axis", "count"),
    [("q", "row", 2), ("q", "head", 2), ("k", "head", 3), ("v", "head", 3)],
)
def test_offsets_of_rows_and_heads_pass_32_bits(run_family, name, axis, count):
    """The last row or head lies at an offset of 2³¹ or 2³² elements, less a few."""
    run, head_dim, far = run_family, 256, 2**31 - 4
    problem = make_prefill_problem(PrefillShape(count, count, count, head_dim, 64), mask="causal")
    call = run.prepare(problem)
    expected = run.attend([call])[0]

    strides = {field: getattr(call.params, field) for field in STRIDES}
    strides[f"{name}_{axis}_stride"] = far
    if axis == "head":
        strides[f"{name}_row_stride"] = head_dim
    array = np.asarray(getattr(call, name))[:-TAIL].reshape(-1, count, head_dim)
    parts = np.moveaxis(array, 0 if axis == "row" else 1, 0)
    memory = sparse((count - 1) * far + parts[0].size, array.dtype, run.device.page_size)
    for i, part in enumerate(parts):
        memory[i * far :][: part.size] = part.ravel()
    params = run.family.params(count, count, count, head_dim, 64, **strides)
    moved = call._replace(**{name: run.device.wrap(memory)}, params=params)
    np.testing.assert_array_equal(run.attend([moved])[0], expected)


def test_offsets_in_the_mask_pass_32_bits(run_family):
    """Rows of 2²⁶ cells, of which the last tile counts: row 32 starts at byte 2³²."""
    run, rows, kv_pad, head_dim = run_family, 40, 2**26, 256
    mask = sparse(rows * kv_pad, np.float16, run.device.page_size)
    cells = mask.reshape(rows, kv_pad)[:, -KEYS:]
    cells[...] = -np.inf
    cells[np.arange(rows), np.arange(rows)] = 0
    classes = sparse(2 * (kv_pad // KEYS), np.uint8, run.device.page_size)
    classes.reshape(2, -1)[:, -1] = MIXED
    # All steps see the same 64 rows' worth of K: its row stride is 0. V's rows tell keys apart.
    k = run.buffer(np.zeros(head_dim, np.float16))
    v = sparse((kv_pad - 1) * 4 + head_dim, np.float16, run.device.page_size)
    v[-(KEYS - 1) * 4 - head_dim :: 4][:KEYS] = np.arange(KEYS)
    out = run.buffer(np.full((rows, 1, head_dim), np.nan, np.float32))
    params = run.family.params(rows, 1, 1, head_dim, kv_pad, head_dim, head_dim, 0, 0, 4, 0)
    with run.device.encoder() as encoder:
        run.family.dispatch(
            encoder,
            run.registry,
            run.buffer(np.zeros((rows, 1, head_dim), np.float32)),
            k,
            run.device.wrap(v),
            run.device.wrap(mask),
            run.device.wrap(classes),
            out,
            params,
        )
    np.testing.assert_array_equal(np.asarray(out)[:, 0, 0], np.arange(rows))


# ---- schedules -----------------------------------------------------------------------------------


def test_every_schedule_gives_the_same_bits(run, head_dim):
    if not run.device.is_host:
        pytest.skip("only the host device has a choice of schedules")
    problem = make_prefill_problem(PrefillShape(33, 2, 1, head_dim, 130), "large logits", "causal")
    expected = PrefillRunner(fm.Device(engine="simt"), run.family)(problem)
    schedules = [{"order": "lowest"}, *({"order": "random", "seed": n} for n in range(1, 9))]
    for schedule, threads in itertools.product(schedules, (1, 2)):
        device = fm.Device(engine="simt", threads=threads, **schedule)
        other = PrefillRunner(device, run.family)
        np.testing.assert_array_equal(bits(other(problem)), bits(expected), str(schedule))


def test_calls_in_one_command_buffer_do_not_matter_to_each_other(run, head_dim):
    problems = [
        make_prefill_problem(PrefillShape(rows, 2, 1, head_dim, 130), mask="causal", seed=rows)
        for rows in (33, 1, 20)
    ]
    together = run.run([run.prepare(problem) for problem in problems])
    for problem, out in zip(problems, together, strict=True):
        np.testing.assert_array_equal(bits(run(problem)), bits(out))
