"""Tensor prefill against float64, and against a model that rounds where the kernel does."""

import itertools

import pytest
from prefill_batch import Source, check_batch, check_bound
from prefill_families import TENSOR
from prefill_runner import LAYOUTS

from flashmetal.prefill_problems import MASKS, PrefillShape, make_prefill_problem
from flashmetal.problems import KINDS

HEAD_DIMS = (256, 512)
# Around multiples of 16 and 32, the query rows of a threadgroup.
ROWS = (1, 2, 7, 8, 15, 16, 17, 31, 32, 33, 47, 48, 49, 63, 64, 65, 95, 96, 97, 127, 128, 129, 130)
# Around multiples of 64, the keys of a step.
KV_LENS = (
    *(1, 2, 33, 63, 64, 65, 127, 128, 129, 191, 192, 193, 255, 256, 257, 319, 320, 321, 449, 511),
    *(512, 513, 639, 641, 700, 769, 1000, 1023, 1024, 1025, 1281, 1400),
)
HEADS = ((1, 1), (2, 1), (2, 2), (1, 1), (3, 1), (2, 1), (4, 2))
MANY_HEADS = ((8, 1), (6, 2), (16, 1), (7, 7), (16, 2))
BATCH = 16  # cases in one command buffer


def sizes():
    """Every number of rows with every length; heads, masks and layouts take turns."""
    turns = zip(
        itertools.product(ROWS, KV_LENS),
        itertools.cycle(HEADS),
        itertools.cycle(mask for mask in MASKS if mask != "finite"),
        itertools.cycle(itertools.product(LAYOUTS, repeat=3)),
        strict=False,
    )
    for (rows, kv_len), heads, mask, layouts in turns:
        yield rows, heads, kv_len, mask, layouts
    # The larger groups, of few rows.
    for heads, rows, mask in itertools.product(MANY_HEADS, (1, 17, 40), ("causal", "random")):
        yield rows, heads, 130, mask, ("packed", "head_major", "with_gaps")


CASES = list(sizes())
BATCHES = [CASES[first : first + BATCH] for first in range(0, len(CASES), BATCH)]


@pytest.fixture(scope="module")
def runs(prefill_runners):
    return prefill_runners[TENSOR]


@pytest.fixture(scope="module")
def sources():
    return {head_dim: Source(max(ROWS), max(KV_LENS), head_dim) for head_dim in HEAD_DIMS}


def test_grid_has_as_many_cases_as_promised():
    assert len(CASES) >= 600
    assert {case[3] for case in CASES} >= set(MASKS) - {"finite"}


@pytest.mark.slow
@pytest.mark.parametrize("batch", range(len(BATCHES)))
@pytest.mark.parametrize("head_dim", HEAD_DIMS)
def test_every_size_layout_and_mask(runs, sources, head_dim, batch):
    problems = [sources[head_dim].problem(*case[:-1]) for case in BATCHES[batch]]
    check_batch(runs, problems, [case[-1] for case in BATCHES[batch]])


HOSTILE = [kind for kind in KINDS if kind != "normal"]


@pytest.mark.parametrize("kind", HOSTILE)
@pytest.mark.parametrize("head_dim", HEAD_DIMS)
def test_hostile_values_stay_within_the_bound(runs, head_dim, kind):
    sizes = zip(itertools.product((1, 18, 35), (2, 65, 300)), MASKS, strict=True)
    problems = [
        make_prefill_problem(PrefillShape(rows, 2, 1, head_dim, kv_len), kind, mask)
        for (rows, kv_len), mask in sizes
    ]
    check_bound(runs, problems)


@pytest.mark.parametrize("scale", [1.0, 0.0, -0.25, 0.03])
@pytest.mark.parametrize("head_dim", HEAD_DIMS)
def test_scale_other_than_the_default(runs, head_dim, scale):
    problem = make_prefill_problem(PrefillShape(20, 2, 1, head_dim, 100), mask="causal")
    check_bound(runs, [problem], scale)


@pytest.mark.parametrize("head_dim", HEAD_DIMS)
def test_least_f16_in_the_mask_stays_within_the_bound(runs, head_dim):
    problems = [
        make_prefill_problem(PrefillShape(rows, 2, 1, head_dim, kv_len), mask="finite")
        for rows, kv_len in ((1, 64), (33, 100), (70, 300))
    ]
    check_bound(runs, problems)
