"""Fixtures of all tests, and the check that no test leaves an object of Metal behind."""

import gc
import os
from typing import NamedTuple

import pytest

# Before NumPy is loaded: its BLAS threads spin while they wait, on cores that kernels need.
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

from engines import ENGINES
from prefill_families import FAMILIES, FAMILIES_AND_HEAD_DIMS
from prefill_runner import PrefillRunner

import flashmetal as fm
from flashmetal import _host


class Prefill(NamedTuple):
    run: PrefillRunner
    head_dim: int


FAILED = pytest.StashKey[bool]()


def pytest_configure(config):
    config.addinivalue_line(
        "markers",
        "keeps_objects: it calls what keeps objects for later calls, so they are not counted",
    )


def pytest_collection_finish():
    """Leave what lives as long as the tests, themselves for one, out of each test's collection."""
    gc.collect()
    gc.freeze()


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(item, call):
    report = yield
    item.stash[FAILED] = item.stash.get(FAILED, False) or report.failed
    return report


@pytest.fixture(scope="session")
def device():
    return fm.Device()


@pytest.fixture(scope="session")
def prefill_runners():
    """Runners for each family of prefill kernels, one for each engine."""
    devices = [fm.Device(engine=engine) for engine in ENGINES]
    return {family: [PrefillRunner(device, family) for device in devices] for family in FAMILIES}


@pytest.fixture(params=FAMILIES_AND_HEAD_DIMS)
def prefill(request, engine, prefill_runners):
    """A runner and a head_dim, of each family of prefill kernels and each engine in turn."""
    family, head_dim = request.param
    return Prefill(prefill_runners[family][ENGINES.index(engine)], head_dim)


@pytest.fixture(params=ENGINES)
def engine(request):
    return request.param


@pytest.fixture(scope="session", autouse=True)
def private_cache(tmp_path_factory):
    """Keeps the tests' kernels out of the user's cache, and the user's out of the tests."""
    if _host.available():
        _host.set_cache(tmp_path_factory.mktemp("kernels"))


@pytest.fixture
def host():
    """The controls of the host device; what a test set is undone after it."""
    if not _host.available():
        pytest.skip("only the host device has faults and limits")
    yield _host
    _host.set_faults(None)
    _host.set_limits()


@pytest.fixture(autouse=True)
def no_objects_left(request):
    """Fails a test that leaves Metal's objects behind or breaks one of Metal's rules."""
    if not _host.available() or request.node.get_closest_marker("keeps_objects"):
        yield
        return
    gc.collect()
    objects, rules = _host.live_objects(), _host.diagnostics()
    yield
    # A failed test's traceback holds its objects.
    if request.node.stash.get(FAILED, False):
        return
    # The fixtures' values have been torn down, but are still referred to.
    request.node.funcargs.clear()
    if _host.live_objects() > objects:
        gc.collect()
        assert _host.quiesce(), "queues are still busy"
    if _host.live_objects() > objects:
        _host.dump_live_objects()
    assert _host.live_objects() <= objects, "objects are left; stderr lists them"
    assert _host.diagnostics() == rules, "the test broke rules of Metal"
