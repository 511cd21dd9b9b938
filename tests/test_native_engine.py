"""The native engine: what it runs in place of a kernel, what it refuses, and its bits."""

import os
import pathlib
import platform
import subprocess
import sys

import numpy as np
import pytest
from decode_runner import DecodeRunner
from small_kernels import ADD

import flashmetal as fm
from flashmetal import _host, resources
from flashmetal.errors import CommandBufferError, UnsupportedFeature
from flashmetal.ops.flash_attention import FlashAttentionParams
from flashmetal.prefill_problems import PrefillShape, make_prefill_problem
from flashmetal.problems import DecodeShape, make_problem

pytestmark = pytest.mark.skipif(not _host.available(), reason="only the host device has engines")

TEXT = resources.shader("flash_attention").read_text(encoding="utf-8")
KERNEL = "flash_attention_hd64"
PROBLEM = make_problem(DecodeShape(8, 2, 64, 700))


@pytest.fixture(scope="module")
def runners():
    """A runner for each engine; the engines' results of PROBLEM differ in some bits."""
    runners = {
        engine: DecodeRunner(fm.Device(engine=engine)) for engine in ("auto", "native", "simt")
    }
    assert not np.array_equal(runners["native"](PROBLEM), runners["simt"](PROBLEM))
    return runners


def result_of(engine, text=TEXT, options=None):
    """PROBLEM's result where KERNEL stands for another text or other options."""
    runner = DecodeRunner(fm.Device(engine=engine))
    runner.registry.register_source(KERNEL, text, options=options)
    return runner(PROBLEM)


def test_auto_takes_the_equivalent_of_a_shipped_kernel(runners):
    np.testing.assert_array_equal(runners["auto"](PROBLEM), runners["native"](PROBLEM))


@pytest.mark.parametrize(
    ("text", "options"),
    [
        (TEXT + "// the same in other words\n", None),
        (TEXT, fm.CompileOptions(macros={"UNUSED": 1})),
    ],
    ids=["another text", "a macro"],
)
def test_auto_runs_every_other_kernel_itself(runners, text, options):
    np.testing.assert_array_equal(result_of("auto", text, options), runners["simt"](PROBLEM))


def test_the_shipped_text_has_its_equivalent_however_it_was_compiled(runners):
    same = result_of("auto", options=fm.CompileOptions(math_mode="safe"))
    np.testing.assert_array_equal(same, runners["native"](PROBLEM))


def test_native_refuses_a_kernel_without_an_equivalent():
    registry = fm.KernelRegistry(fm.Device(engine="native"))
    registry.register_source("add", ADD)
    with pytest.raises(UnsupportedFeature, match=r'function add .* engine "auto" runs it'):
        registry.get_pipeline("add")
    with pytest.raises(UnsupportedFeature, match=KERNEL):
        result_of("native", TEXT + "\n")


@pytest.mark.parametrize("engine", ["auto", "native"])
def test_another_grid_runs_the_kernel_itself(runners, engine):
    """Half of the threadgroups: the other heads' output stays as it was."""
    runner = runners[engine]
    buffers = [runner.buffer(x) for x in (PROBLEM.q, PROBLEM.k, PROBLEM.v)]
    out = runner.buffer(np.full_like(PROBLEM.q, np.nan))
    params = FlashAttentionParams(**PROBLEM.shape._asdict()).pack()
    with runner.device.encoder() as encoder:
        arguments = dict(enumerate((*buffers, out, params)))
        encoder.dispatch(runner.registry.get_pipeline(KERNEL), arguments, (4, 1, 1), (256, 1, 1))
    expected = runners["simt"](PROBLEM)
    np.testing.assert_array_equal(np.asarray(out)[:4], expected[:4])
    assert np.isnan(np.asarray(out)[4:]).all()


def test_a_cache_that_is_too_short_is_the_kernels_fault(runners):
    runner = runners["auto"]
    q, k, v, out = (runner.buffer(x) for x in (PROBLEM.q, PROBLEM.k[:64], PROBLEM.v, PROBLEM.q))
    shape = PROBLEM.shape._replace(seq_len=100_000)
    params = FlashAttentionParams(**shape._asdict()).pack()
    encoder = runner.device.encoder()
    runner.dispatch(encoder, KERNEL, (q, k, v, out), params)
    with pytest.raises(CommandBufferError, match=rf"kernel '{KERNEL}': .* past the end"):
        encoder.commit_and_wait()


@pytest.mark.parametrize("shape", [(32, 8, 128, 1500), (1, 1, 64, 9000), (9, 3, 64, 2000)])
def test_threads_do_not_change_bits(shape):
    problem = make_problem(DecodeShape(*shape))
    results = [
        DecodeRunner(fm.Device(engine="native", threads=threads))(problem)
        for threads in (1, 2, 3, 8)
    ]
    for other in results[1:]:
        np.testing.assert_array_equal(other, results[0])


@pytest.mark.keeps_objects
@pytest.mark.parametrize("head_dim", [64, 256, 512])
def test_native_attends_with_many_rows_and_threads_do_not_change_bits(head_dim):
    """The mask's tiles and the attention of both families, which "native" would refuse to lack."""
    problem = make_prefill_problem(PrefillShape(70, 4, 2, head_dim, 200))
    results = [
        fm.attention(problem.q, problem.k, problem.v, causal=True, device=device)
        for device in (
            fm.Device(engine="auto"),
            *(fm.Device(engine="native", threads=threads) for threads in (1, 2, 3)),
        )
    ]
    for other in results[1:]:
        np.testing.assert_array_equal(other, results[0])


# Of this machine, best first.
LEVELS = {"x86_64": ("x86-64-v4", "x86-64-v3", "x86-64")}.get(platform.machine(), ("armv8-a",))

# Prints how far the native engine is from float64, and its result's bits.
SCRIPT = """
import sys
import flashmetal as fm
from decode_runner import DecodeRunner
from flashmetal.problems import DecodeShape, make_problem

runner = DecodeRunner(fm.Device(engine="native"))
problem = make_problem(DecodeShape(12, 2, 80, 700))
print(runner.accuracy(problem).within_bound, runner.accuracy(problem).within_nmse_limits)
print(runner(problem).tobytes().hex())
"""


def run_on(level):
    done = subprocess.run(
        [sys.executable, "-c", SCRIPT],
        capture_output=True,
        text=True,
        check=True,
        # Where no folder is called flashmetal.
        cwd=pathlib.Path(__file__).parent,
        env={**os.environ, "FLASHMETAL_CPU": level},
    )
    accuracy, bits = done.stdout.split("\n", 1)
    assert accuracy == "True True"
    return bits


def test_a_cpu_level_can_be_forced():
    best = run_on("")
    results = {level: run_on(level) for level in LEVELS}
    # Whatever the CPU is, its best level is one of them.
    assert best in results.values()
    if best != results[LEVELS[-1]]:
        assert len(set(results.values())) >= 2
