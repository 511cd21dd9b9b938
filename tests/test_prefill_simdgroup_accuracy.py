"""Simdgroup prefill at every head_dim against float64, and against the model that rounds alike."""

import itertools

import numpy as np
import pytest
from decode_runner import DecodeRunner
from engines import ENGINES
from prefill_batch import Source, check_batch, check_bound
from prefill_families import SIMDGROUP
from prefill_runner import LAYOUTS, PrefillRunner, reference_of

from flashmetal import resources
from flashmetal.prefill_problems import MASKS, PrefillShape, make_prefill_problem
from flashmetal.problems import KINDS, DecodeProblem
from flashmetal.reference import compare, decode_reference

HEAD_DIMS = range(4, 257, 4)
# Around the 32 query rows of a threadgroup, the 16 of a strip and the 64 keys of a step.
SIZES = list(itertools.product((1, 9, 16, 17, 31, 32, 33, 65), (1, 2, 63, 64, 65, 129, 200)))
CASES_OF_A_HEAD_DIM = 20
HEADS = ((1, 1), (2, 1), (2, 2), (3, 1), (4, 2))
# Those with a kernel of their own, those that end in the middle of a block, one that does neither.
SPECIALISED = (64, 80, 96, 128, 256)
KERNELS = (4, 48, 64, 80, 96, 100, 128, 252, 256)


@pytest.fixture(scope="module")
def runs(prefill_runners):
    return prefill_runners[SIMDGROUP]


@pytest.fixture(scope="module")
def source():
    rows, kv_lens = zip(*SIZES, strict=True)
    return Source(max(rows), max(kv_lens), max(HEAD_DIMS), max(HEADS))


def cases():
    """Sizes, heads, masks and layouts take turns; sequences of coprime lengths meet in all ways."""
    turns = zip(
        itertools.cycle(SIZES),
        itertools.cycle(HEADS),
        itertools.cycle(mask for mask in MASKS if mask != "finite"),
        itertools.cycle(itertools.product(LAYOUTS, repeat=3)),
        strict=False,
    )
    return {head_dim: list(itertools.islice(turns, CASES_OF_A_HEAD_DIM)) for head_dim in HEAD_DIMS}


CASES = cases()


def test_grid_has_as_many_cases_as_promised():
    everything = [case for of_head_dim in CASES.values() for case in of_head_dim]
    assert len(everything) >= 1200
    assert {case[0] for case in everything} == set(SIZES)
    assert {case[2] for case in everything} == set(MASKS) - {"finite"}


@pytest.mark.parametrize("head_dim", HEAD_DIMS)
def test_every_head_dim(runs, source, head_dim):
    problems = [
        source.problem(rows, heads, kv_len, mask, head_dim)
        for (rows, kv_len), heads, mask, _ in CASES[head_dim]
    ]
    check_batch(runs, problems, [layouts for *_, layouts in CASES[head_dim]])


@pytest.mark.parametrize("kind", [kind for kind in KINDS if kind != "normal"])
def test_hostile_values_stay_within_the_bound(runs, kind):
    sizes = zip(
        itertools.cycle(itertools.product((1, 18, 35), (2, 65, 200))),
        itertools.product(KERNELS, MASKS),
        strict=False,
    )
    problems = [
        make_prefill_problem(PrefillShape(rows, 2, 1, head_dim, kv_len), kind, mask)
        for (rows, kv_len), (head_dim, mask) in sizes
    ]
    check_bound(runs, problems)


@pytest.mark.parametrize("scale", [1.0, 0.0, -0.25, 0.03])
@pytest.mark.parametrize("head_dim", KERNELS)
def test_scale_other_than_the_default(runs, head_dim, scale):
    problem = make_prefill_problem(PrefillShape(20, 2, 1, head_dim, 100), mask="causal")
    check_bound(runs, [problem], scale)


@pytest.mark.parametrize("index", range(len(ENGINES)), ids=ENGINES)
def test_the_general_kernel_gives_the_same_within_the_bound(runs, index):
    """Both compile from one text; what the compiler fuses may differ."""
    run = runs[index]

    def general_kernel(head_dim):
        return run.family.op.OPERATION.kernel(head_dim)._replace(name=run.family.kernels[0])

    dispatch = run.family.op.OPERATION._replace(kernel=general_kernel).dispatch
    general = PrefillRunner(run.device, run.family._replace(dispatch=dispatch))
    for head_dim, (rows, kv_len) in itertools.product(SPECIALISED, ((1, 64), (33, 130))):
        problem = make_prefill_problem(PrefillShape(rows, 2, 1, head_dim, kv_len), mask="causal")
        assert compare(general(problem), reference_of(problem)).within_bound
        np.testing.assert_allclose(general(problem), run(problem), rtol=1e-3, atol=1e-4)


@pytest.mark.parametrize("index", range(len(ENGINES)), ids=ENGINES)
def test_one_row_equals_decode_within_the_bounds(runs, index):
    run = runs[index]
    decode = DecodeRunner(run.device)
    for head_dim, kv_len in itertools.product(range(4, 129, 4), (1, 64, 130)):
        problem = make_prefill_problem(PrefillShape(1, 4, 2, head_dim, kv_len))
        one = DecodeProblem(problem.q[0], problem.k, problem.v)
        bound = reference_of(problem).bound[0] + decode_reference(one.q, one.k, one.v).bound
        assert (abs(run(problem)[0] - decode(one)) <= bound).all()


def test_skipped_tiles_are_not_walked(runs, device):
    """A kernel that writes how many steps it took, in place of the attention."""
    text = resources.shader(runs[0].family.name).read_text(encoding="utf-8")
    for before, after in (
        ("if (tile_class == SKIP) continue;", "if (tile_class == SKIP) continue; walked += 1;"),
        ("for (int step = 0;", "int walked = 0; for (int step = 0;"),
        ("quad / sum", "float4(walked)"),
    ):
        assert text.count(before) == 1
        text = text.replace(before, after)
    runner = PrefillRunner(device, runs[0].family)
    for kernel in runs[0].family.kernels:
        runner.registry.register_source(kernel, text)
    for rows, kv_len in ((256, 256), (96, 320)):
        problem = make_prefill_problem(PrefillShape(rows, 1, 1, 64, kv_len), mask="causal")
        last_keys = np.arange(rows) // 32 * 32 + 31 + kv_len - rows
        expected = np.broadcast_to((last_keys // 64 + 1)[:, None, None], problem.q.shape)
        np.testing.assert_array_equal(runner(problem), expected)
        without_classes = runner.attend([runner.prepare(problem)])[0]
        np.testing.assert_array_equal(without_classes, np.full_like(problem.q, kv_len // 64))
