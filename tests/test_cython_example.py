"""The example that calls the core from Cython and C builds against this flashmetal and decodes."""

import importlib
import pathlib
import shutil
import subprocess
import sys

import numpy as np
import pytest

import flashmetal as fm
from flashmetal.ops.flash_attention import register

EXAMPLE = pathlib.Path(__file__).parent.parent / "examples" / "cython_loop"

pytestmark = [pytest.mark.slow, pytest.mark.timeout(300)]


@pytest.fixture(scope="module")
def decode(tmp_path_factory):
    """The example's function, from a build of a copy, so that the source tree stays clean."""
    pytest.importorskip("Cython")
    pytest.importorskip("setuptools")
    project = tmp_path_factory.mktemp("example") / "cython_loop"
    shutil.copytree(EXAMPLE, project)
    build = [sys.executable, "setup.py", "build_ext", "--inplace"]
    done = subprocess.run(
        build, cwd=project, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False
    )
    assert done.returncode == 0, done.stdout
    sys.path.insert(0, str(project))
    yield importlib.import_module("cython_loop").decode
    sys.path.remove(str(project))


@pytest.fixture
def attention(device):
    """A step over a cache whose row r points out element r % 64, and its output."""
    registry = fm.KernelRegistry(device)
    register(registry)
    q, out = (device.alloc((2, 64), "f32") for _ in range(2))
    k, v = (device.alloc((100, 1, 64), "f16") for _ in range(2))
    # The key of the last row grows with it, so that the newest row has all the weight.
    np.asarray(q)[:] = 1
    np.asarray(k)[:] = np.arange(100).reshape(-1, 1, 1) * 10
    np.asarray(v)[np.arange(100), 0, np.arange(100) % 64] = 1
    plan = fm.DecodePlan(registry, q, k, v, out, n_heads=2, n_kv_heads=1, head_dim=64)
    return fm.DecodeStep([plan]), out


def test_loop_in_c_decodes(device, attention, decode):
    step, out = attention
    assert decode(device, step, out, 60, 10) == [row % 64 for row in range(59, 69)]


def test_errors_of_c_calls_are_those_of_python(device, attention, decode):
    step, out = attention
    with pytest.raises(fm.errors.InvalidArgument, match="101 rows from row 0 on"):
        decode(device, step, out, 99, 10)
    with pytest.raises(TypeError):
        decode(device, step, None, 1, 1)


def test_failure_of_a_command_buffer_is_raised(device, attention, decode, host):
    step, out = attention
    host.set_faults("exec:code=8")
    with pytest.raises(fm.errors.CommandBufferError) as caught:
        decode(device, step, out, 1, 1)
    assert caught.value.kind == "out_of_memory"
