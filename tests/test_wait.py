"""Waiting: asleep, looking or both; for any order of work, and never past its timeout."""

import threading
import time

import numpy as np
import pytest
from small_kernels import ADD, commit_add

import flashmetal as fm
from flashmetal import _host
from flashmetal.ops.flash_attention import register
from flashmetal.problems import DecodeShape, make_problem

MODES = ["auto", "block", "spin"]


@pytest.fixture
def add(device):
    registry = fm.KernelRegistry(device)
    registry.register_source("add", ADD)
    return registry.get_pipeline("add")


@pytest.mark.parametrize("mode", MODES)
def test_every_mode_waits_for_the_work(device, add, mode):
    encoder, words = commit_add(device, add)
    encoder.wait(mode=mode)
    assert np.asarray(words).tolist() == [1] * 64
    assert encoder.gpu_time() >= 0
    encoder.wait(0, mode)
    encoder.commit_and_wait(mode=mode)


@pytest.mark.parametrize("mode", MODES)
def test_every_mode_raises_how_the_work_ended(device, host, mode):
    host.set_faults("exec:code=3:ms=20")
    encoder, _ = commit_add(device)
    for _ in range(2):
        with pytest.raises(fm.errors.CommandBufferError) as caught:
            encoder.wait(mode=mode)
        assert caught.value.kind == "page_fault"


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("timeout", [0, 0.001, 0.03])
def test_every_mode_keeps_its_timeout(device, host, mode, timeout):
    host.set_faults("hang:ms=500")
    encoder, _ = commit_add(device)
    late = []
    for _ in range(3):
        start = time.monotonic()
        with pytest.raises(fm.errors.WaitTimeout) as caught:
            encoder.wait(timeout, mode)
        assert caught.value.seconds == timeout
        late.append(time.monotonic() - start - timeout)
    # A busy machine may delay any one of them; none may come early.
    assert 0 <= min(late) < 0.01
    assert encoder.state == "committed"
    encoder.wait(10, mode)


@pytest.mark.parametrize("mode", MODES)
def test_every_mode_releases_the_gil(device, host, mode):
    host.set_faults("hang:ms=300")
    encoder, _ = commit_add(device)
    stop, beats = threading.Event(), []

    def beat():
        while not stop.wait(0.005):
            beats.append(None)

    thread = threading.Thread(target=beat)
    thread.start()
    encoder.wait(mode=mode)
    stop.set()
    thread.join()
    assert len(beats) >= 10


def cpu_seconds_of_a_wait(device, host, mode):
    host.set_faults("hang:ms=100")
    encoder, _ = commit_add(device)
    start = time.thread_time()
    encoder.wait(mode=mode)
    return time.thread_time() - start


def test_sleeping_waits_leave_the_core_to_others(device, host):
    assert cpu_seconds_of_a_wait(device, host, "block") < 0.01
    assert cpu_seconds_of_a_wait(device, host, "auto") < 0.01


@pytest.mark.parametrize("mode", MODES)
def test_waits_in_any_order(device, add, mode):
    in_flight = [commit_add(device, add) for _ in range(16)]
    for position in np.random.default_rng(5).permutation(16):
        encoder, words = in_flight[position]
        encoder.wait(mode=mode)
        assert np.asarray(words).tolist() == [1] * 64


def test_threads_wait_for_one_encoder_in_different_modes(device, host):
    host.set_faults("hang:ms=50")
    encoder, _ = commit_add(device)
    threads = [
        threading.Thread(target=encoder.wait, kwargs={"mode": mode}) for mode in MODES for _ in "ab"
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert encoder.state == "completed"


@pytest.mark.parametrize("mode", ["sleep", "", None, 1, b"spin"])
@pytest.mark.parametrize("call", ["wait", "commit_and_wait"])
def test_other_modes_are_refused_before_anything_happens(device, call, mode):
    encoder = device.encoder()
    with pytest.raises(fm.errors.InvalidArgument, match='"block", "spin" or "auto", got '):
        getattr(encoder, call)(mode=mode)
    assert encoder.state == "open"


def share_of_the_waiting_thread(device, shape):
    """How much of a decode's work is done by the thread that waits for it, about."""
    problem = make_problem(shape)
    registry = fm.KernelRegistry(device)
    register(registry)
    arrays = [problem.q, problem.k, problem.v, np.empty_like(problem.q)]
    sizes = {name: value for name, value in shape._asdict().items() if name != "seq_len"}
    plan = fm.DecodePlan(registry, *map(device.wrap, arrays), **sizes)
    encoder = device.encoder()
    plan.encode(encoder, shape.seq_len)
    encoder.commit()
    before = time.thread_time()
    encoder.wait()
    return (time.thread_time() - before) / encoder.gpu_time()


@pytest.mark.skipif(not _host.available(), reason="a GPU needs no help")
def test_who_waits_stays_free_for_signals_while_long_work_runs():
    device = fm.Device(engine="native", threads=1)
    assert share_of_the_waiting_thread(device, DecodeShape(64, 1, 128, 20000)) < 0.5
