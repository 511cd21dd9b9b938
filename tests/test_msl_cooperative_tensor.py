"""Views of tensors, and cooperative tensors: their elements, loads, stores, reductions, chains."""

import pathlib
import struct

import numpy as np
import pytest

import flashmetal as fm

FOLDER = pathlib.Path(__file__).parent / "msl"
COOPERATIVE = (FOLDER / "tensor_cooperative.metal").read_text("utf-8")
VIEWS = "".join((FOLDER / name).read_text("utf-8") for name in ("checks.h", "tensor_views.metal"))
# Scope, threads, rows, columns: as many elements as slots, fewer, more threads than elements.
PLACES = [
    ("execution_thread", 1, 16, 5 * 8),
    ("execution_simdgroup", 32, 16, 16),
    ("execution_simdgroup", 32, 3, 16),
    ("execution_simdgroup", 32, 16, 40),
    ("execution_simdgroups<4>", 128, 32, 64),
    ("execution_simdgroups<3>", 96, 16, 56),
    ("execution_simdgroups<8>", 256, 1, 16),
]
IN_SIMDGROUPS = [place for place in PLACES if place[0] == "execution_simdgroup"]


@pytest.fixture(
    params=[
        "highest",
        *(pytest.param(order, marks=pytest.mark.slow) for order in ("lowest", "random")),
    ]
)
def device(request):
    return fm.Device(order=request.param, seed=11, threads=1)


def pipeline_of(device, kernel, place, **macros):
    scope, _, rows, columns = place
    options = fm.CompileOptions(macros={"SCOPE": scope, "ROWS": rows, "COLUMNS": columns, **macros})
    registry = fm.KernelRegistry(device)
    registry.register_source(kernel, COOPERATIVE, options=options)
    return registry.get_pipeline(kernel)


def upload(device, array):
    buffer = device.alloc(array.shape, array.dtype)
    np.asarray(buffer)[...] = array
    return buffer


def run(device, pipeline, place, *arguments):
    threads = place[1]
    with device.encoder() as encoder:
        encoder.dispatch(pipeline, dict(enumerate(arguments)), 1, (threads, 1, 1))


@pytest.mark.parametrize("kernel", ["shapes", "inline_tensors", "tags", "slices", "clipping"])
def test_views(device, kernel):
    registry = fm.KernelRegistry(device)
    registry.register_source(kernel, VIEWS)
    pipeline = registry.get_pipeline(kernel)
    failed = upload(device, np.zeros(1, np.uint32))
    data = upload(device, np.zeros(1024, np.float32))
    run(device, pipeline, PLACES[0], failed, data)
    assert np.asarray(failed)[0] == 0, "the line of a check that does not hold"


@pytest.mark.parametrize("place", PLACES, ids=str)
def test_each_element_is_in_one_slot(device, place):
    _, _, rows, columns = place
    pipeline = pipeline_of(device, "coverage", place)
    counts = upload(device, np.zeros((rows, columns), np.uint32))
    places = upload(device, np.full((rows, columns, 2), -1, np.int32))
    wrong = upload(device, np.zeros(1, np.uint32))
    run(device, pipeline, place, counts, places, wrong)
    assert np.asarray(wrong)[0] == 0
    assert np.all(np.asarray(counts) == 1)
    row, column = np.indices((rows, columns))
    assert np.array_equal(np.asarray(places), np.stack((column, row), axis=-1))


@pytest.mark.parametrize("place", PLACES, ids=str)
def test_load_and_store_leave_out_what_a_tensor_does_not_have(device, place):
    _, _, rows, columns = place
    pipeline = pipeline_of(device, "doubled", place)
    rng = np.random.default_rng(5)
    stride = columns + 3
    for height, width in [(rows, columns), (rows + 2, columns + 1), (rows // 2, columns - 3)]:
        values = rng.integers(-9, 9, (rows + 2, stride)).astype(np.float16)
        source = upload(device, values)
        target = upload(device, np.full(values.shape, 77, np.float32))
        run(device, pipeline, place, source, target, struct.pack("3i", width, height, stride))
        expected = np.full(values.shape, 77, np.float32)
        seen = np.s_[: min(rows, height), : min(columns, width)]
        expected[seen] = 2 * values[seen].astype(np.float32)
        assert np.array_equal(np.asarray(target), expected)


@pytest.mark.parametrize("place", [PLACES[0], PLACES[3], PLACES[4]], ids=str)
def test_what_the_inputs_do_not_have_counts_as_zero(device, place):
    _, _, rows, columns = place
    pipeline = pipeline_of(device, "edges", place, EDGES=1)
    rng = np.random.default_rng(21)
    left, right = (
        rng.integers(1, 9, shape).astype(np.float32) for shape in [(rows, 16), (16, columns)]
    )
    result = upload(device, np.full((rows, columns), np.nan, np.float32))
    run(device, pipeline, place, upload(device, left), upload(device, right), result)
    expected = np.zeros((rows, columns), np.float32)
    expected[:-3, :-7] = left[3:, 5:] @ right[5:, 7:]
    assert np.array_equal(np.asarray(result), expected)


@pytest.mark.parametrize("place", IN_SIMDGROUPS, ids=str)
def test_reductions(device, place):
    _, _, rows, columns = place
    pipeline = pipeline_of(device, "reductions", place, REDUCTIONS=1, OTHER_ROWS=rows)
    rng = np.random.default_rng(9)
    values = rng.integers(-50, 20, (rows, columns)).astype(np.float32)
    values[0] = -1 - np.arange(columns)
    values[:, 1] = 1 + np.arange(rows)
    by_row = upload(device, np.zeros((4, rows), np.float32))
    by_column = upload(device, np.zeros((4, columns), np.float32))
    mapped = upload(device, np.zeros_like(values))
    wrong = upload(device, np.zeros(1, np.uint32))
    run(device, pipeline, place, upload(device, values), by_row, by_column, mapped, wrong)
    assert np.asarray(wrong)[0] == 0
    largest = values.max(axis=1)
    # Without an identity that of sums is taken: no maximum is below 0, no minimum above.
    rows_expected = [values.sum(1), values.min(1), np.maximum(largest, 0), largest]
    total = values.sum(0)
    columns_expected = [values.max(0), np.minimum(values.min(0), 0), total + 100, total]
    assert np.array_equal(np.asarray(by_row), rows_expected)
    assert np.array_equal(np.asarray(by_column), columns_expected)
    assert np.array_equal(np.asarray(mapped), values + total - largest[:, None])


def test_map_iterator_into_rows_of_another_product(device):
    place = ("execution_simdgroup", 32, 32, 16)
    compatible = upload(device, np.zeros(1, np.uint32))
    out = upload(device, np.zeros(1, np.float32))
    same = pipeline_of(device, "foreign", place, REDUCTIONS=1, OTHER_ROWS=32)
    run(device, same, place, compatible, out)
    assert np.asarray(compatible)[0] == 1
    other = pipeline_of(device, "foreign", place, REDUCTIONS=1, OTHER_ROWS=16)
    with pytest.raises(fm.errors.CommandBufferError, match=r"line \d+: map_iterator: the thread"):
        run(device, other, place, compatible, out)
    assert np.asarray(compatible)[0] == 0


@pytest.mark.parametrize("place", [PLACES[0], PLACES[4], ("execution_simdgroup", 32, 16, 32)])
def test_a_result_becomes_the_input_of_the_next_product(device, place):
    _, _, rows, columns = place
    place = (*place[:2], rows, columns // 16 * 16)
    columns = place[3]
    pipeline = pipeline_of(device, "chain", place, CHAIN=1)
    rng = np.random.default_rng(13)
    left, right, last = (
        rng.integers(-3, 4, shape).astype(np.float16)
        for shape in [(rows, 16), (16, columns), (48, columns)]
    )
    result = upload(device, np.zeros((rows, 48), np.float32))
    compatible = upload(device, np.full(2, 9, np.uint32))
    buffers = (upload(device, array) for array in (left, right, last))
    run(device, pipeline, place, *buffers, result, compatible)
    between = (left.astype(np.float64) @ right.astype(np.float64)).astype(np.float16)
    assert np.array_equal(
        np.asarray(result), between.astype(np.float64) @ last.T.astype(np.float64)
    )
    assert np.asarray(compatible).tolist() == [1, 0]
