"""The example that tests a kernel of one's own passes, and fails when the kernel is broken."""

import pathlib
import re
import shutil
import subprocess
import sys

import pytest

EXAMPLE = pathlib.Path(__file__).parent.parent / "examples" / "kernels_in_ci"
BARRIER = "    threadgroup_barrier(mem_flags::mem_threadgroup);\n"


@pytest.fixture
def run_example(tmp_path):
    """Runs the example's tests on a copy; returns how many passed and failed, and the text."""
    folder = tmp_path / "kernels_in_ci"
    shutil.copytree(EXAMPLE, folder, ignore=shutil.ignore_patterns("__pycache__"))

    def run(before="", after=""):
        kernel = folder / "row_softmax.metal"
        text = kernel.read_text(encoding="utf-8")
        assert before in text
        kernel.write_text(text.replace(before, after, 1), encoding="utf-8")
        command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", folder]
        done = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)
        counts = {what: int(n) for n, what in re.findall(r"(\d+) (passed|failed)", done.stdout)}
        return counts.get("passed", 0), counts.get("failed", 0), done.stdout

    return run


def test_example_passes(run_example):
    passed, failed, text = run_example()
    assert passed >= 12, text
    assert failed == 0, text


@pytest.mark.parametrize(
    ("before", "after", "message"),
    [
        (BARRIER, "", "Not equal to tolerance"),
        ("simd_sum(sum)", "sum", "Not equal to tolerance"),
        # Each of the example's cases compiles the broken text.
        pytest.param(
            "exp(x[i]", "exq(x[i]", "use of undeclared identifier 'exq'", marks=pytest.mark.slow
        ),
    ],
    ids=["no barrier", "a lost reduction", "a wrong name"],
)
def test_broken_kernels_fail(run_example, before, after, message):
    _, failed, text = run_example(before, after)
    assert failed > 0
    assert message in text
