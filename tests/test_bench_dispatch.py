"""The parts of `flashmetal bench dispatch`: the line, the twin, and peers that are missing."""

import sys

import pytest

from flashmetal._twin import LaunchTwin
from flashmetal.bench import queues
from flashmetal.bench.dispatch import bindings, compiled
from flashmetal.bench.dispatch.line import fit
from flashmetal.bench.queues.ours import Noop, open_queues
from flashmetal.errors import InvalidArgument, UnsupportedFeature


def test_a_line_is_recovered():
    line = fit({count: 9e-6 + 1.5e-7 * count for count in (1, 4, 16, 64, 256)})
    assert line.alpha == pytest.approx(9e-6)
    assert line.beta == pytest.approx(1.5e-7)
    assert line.error < 1e-9


def test_what_is_off_the_line_shows():
    times = {count: 9e-6 + 1.5e-7 * count for count in (1, 4, 16, 64, 256)}
    line = fit({**times, 16: times[16] * 1.3})
    assert 0.1 < line.error < 0.3
    assert line.beta == pytest.approx(1.5e-7, rel=0.1)


@pytest.fixture(scope="module")
def noop():
    return Noop()


@pytest.mark.parametrize("depth", [1, 3, 16])
@pytest.mark.parametrize("spin", [False, True])
def test_the_twin_runs_command_buffers(noop, depth, spin):
    assert noop.twin.run(4, 20, depth, spin) > 0
    assert all(stage >= 0 for stage in noop.twin.stages(spin))


@pytest.mark.parametrize("depth", [0, 17])
def test_the_twin_has_a_deepest_queue(noop, depth):
    with pytest.raises(InvalidArgument, match=f"depth must be 1 to 16, got {depth}"):
        noop.twin.run(1, 1, depth, False)


def test_the_twin_reports_what_fails(noop, host):
    from flashmetal.errors import InvalidState

    host.set_faults("exec:code=8")
    with pytest.raises(InvalidState, match="refused a command buffer"):
        LaunchTwin(noop.plan).run(1, 1, 1, False)


def test_our_queues_encode_as_many_dispatches_as_asked(noop):
    for queue in open_queues(noop):
        encoder = queue.submit(5)
        queue.wait(encoder)
        assert (encoder.dispatch_count, encoder.state) == (5, "completed")


def test_peers_that_are_not_installed_are_left_out(monkeypatch):
    monkeypatch.setitem(sys.modules, "pyopencl", None)
    monkeypatch.delitem(sys.modules, "flashmetal.bench.queues.pocl", raising=False)
    assert queues.open_peers(["pocl"]) == ([], {"pocl": "not installed: pyopencl"})


def test_bindings_without_a_compiler_are_left_out(tmp_path, monkeypatch):
    monkeypatch.setenv("PATH", str(tmp_path))
    cases, left_out = bindings.cases(["ctypes"], tmp_path)
    assert list(cases) == ["empty function"]
    assert left_out == {"ctypes": "there is no compiler cc to build it with"}


def test_a_complaint_of_the_compiler_is_told(tmp_path):
    with pytest.raises(UnsupportedFeature, match="cc failed: "):
        compiled.compile_shared(tmp_path / "wrong.so", [tmp_path / "missing.c"])
