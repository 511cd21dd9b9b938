"""CommandEncoder: states, order, waiting, errors, labels, counters, and the queue's limit."""

import contextlib
import gc
import sys
import threading
import time

import numpy as np
import pytest
from small_kernels import ADD

import flashmetal as fm
from flashmetal import _host

ONE = (1).to_bytes(4, "little")
IN_FLIGHT = 64  # command buffers of a queue


@pytest.fixture
def add(device):
    registry = fm.KernelRegistry(device)
    registry.register_source("add", ADD)
    return registry.get_pipeline("add")


@pytest.fixture
def words(device):
    """A buffer of 64 zeros."""
    return device.alloc(64, "u32")


def increment(encoder, add, words):
    encoder.dispatch(add, {0: words, 1: words, 2: ONE}, 2, 32)


# ---- encoding ------------------------------------------------------------------------------------


def test_barriers_order_dispatches(device, add, words):
    with device.encoder() as encoder:
        for _ in range(100):
            increment(encoder, add, words)
            encoder.memory_barrier()
    assert np.asarray(words).tolist() == [100] * 64
    assert (encoder.dispatch_count, encoder.barrier_count) == (100, 100)


def test_nothing_is_made_before_the_first_dispatch(device, add, words):
    encoder = device.encoder()
    encoder.memory_barrier()
    assert (encoder.command_buffer_count, encoder.barrier_count) == (0, 0)
    increment(encoder, add, words)
    assert (encoder.command_buffer_count, encoder.dispatch_count) == (1, 1)
    encoder.commit_and_wait()


def test_empty_encoder_commits_an_empty_command_buffer(device):
    encoder = device.encoder()
    encoder.commit_and_wait()
    assert (encoder.state, encoder.command_buffer_count) == ("completed", 1)
    assert encoder.gpu_time() >= 0


def test_buffers_live_until_the_work_is_done(device, add, host):
    host.set_faults("hang:ms=100")
    source = np.arange(64, dtype=np.uint32)
    out = device.alloc(64, "u32")
    encoder = device.encoder()
    encoder.dispatch(add, {0: device.wrap(source, copy=None), 1: out, 2: ONE}, 2, 32)
    del source
    gc.collect()
    encoder.commit_and_wait()
    assert np.array_equal(np.asarray(out), np.arange(1, 65))


def test_label_is_kept(device):
    assert device.encoder().label is None
    assert device.encoder("layer 3 · décodage").label == "layer 3 · décodage"
    with pytest.raises(fm.errors.InvalidArgument, match="NUL"):
        device.encoder("a\0b")
    with pytest.raises(fm.errors.InvalidArgument, match="Unicode"):
        device.encoder("\ud800")
    with pytest.raises(TypeError):
        device.encoder(3)


def test_repr_says_what_state_it_is_in(device):
    encoder = device.encoder("prefill")
    assert repr(encoder).startswith(
        "<flashmetal.CommandEncoder encoder 'prefill' open, 0 dispatches"
    )


def test_dispatches_keep_no_memory_of_pythons(device, add, words):
    args = {0: words, 1: words, 2: ONE}
    encoder = device.encoder()
    encoder.dispatch(add, args, 2, 32)
    before = sys.getallocatedblocks()
    for _ in range(1000):
        encoder.dispatch(add, args, 2, 32)
    assert sys.getallocatedblocks() - before < 10
    encoder.discard()


# ---- states --------------------------------------------------------------------------------------


def test_states_follow_the_life_of_the_work(device, add, words, host):
    encoder = device.encoder()
    assert encoder.state == "open"
    increment(encoder, add, words)
    host.set_faults("hang:ms=100")
    encoder.commit()
    assert encoder.state == "committed"
    encoder.wait()
    assert encoder.state == "completed"


@pytest.mark.parametrize("call", ["dispatch", "memory_barrier", "commit", "discard"])
@pytest.mark.parametrize("end", ["commit", "commit_and_wait"])
def test_use_after_commit_is_refused(device, add, words, call, end):
    encoder = device.encoder("step")
    increment(encoder, add, words)
    getattr(encoder, end)()
    with pytest.raises(fm.errors.InvalidState) as caught:
        increment(encoder, add, words) if call == "dispatch" else getattr(encoder, call)()
    assert str(caught.value) == (
        "Invalid state: encoder 'step' is committed already: device.encoder() makes a new one"
    )
    encoder.wait()
    assert np.asarray(words).tolist() == [1] * 64


@pytest.mark.parametrize(
    "call",
    ["dispatch", "memory_barrier", "commit", "discard", "wait", "commit_and_wait", "gpu_time"],
)
def test_use_after_discard_is_refused(device, add, words, call):
    encoder = device.encoder()
    increment(encoder, add, words)
    encoder.discard()
    assert (encoder.state, encoder.command_buffer_count) == ("discarded", 0)
    with pytest.raises(fm.errors.InvalidState, match="the encoder is discarded"):
        increment(encoder, add, words) if call == "dispatch" else getattr(encoder, call)()
    assert not np.asarray(words).any()


def test_wait_before_commit_is_refused(device):
    encoder = device.encoder()
    with pytest.raises(fm.errors.InvalidState, match="waited for before it is committed"):
        encoder.wait()


def test_gpu_time_before_completion_is_refused(device, host):
    host.set_faults("hang:ms=100")
    encoder = device.encoder()
    for _ in range(2):
        with pytest.raises(fm.errors.InvalidState, match="is not completed: wait for it first"):
            encoder.gpu_time()
        if encoder.state == "open":
            encoder.commit()
    encoder.wait()
    assert 0 <= encoder.gpu_time() < 10


def test_commit_and_wait_of_committed_work_waits(device, add, words):
    encoder = device.encoder()
    increment(encoder, add, words)
    encoder.commit()
    encoder.commit_and_wait()
    encoder.commit_and_wait()
    assert np.asarray(words).tolist() == [1] * 64


# ---- context manager and dropping ----------------------------------------------------------------


def test_block_that_raises_discards(device, add, words):
    encoder = device.encoder()
    with contextlib.suppress(ZeroDivisionError), encoder:
        increment(encoder, add, words)
        _ = 1 / 0
    assert encoder.state == "discarded"
    _host.quiesce()
    assert not np.asarray(words).any()


def test_block_that_has_committed_is_waited_for(device, add, words):
    with device.encoder() as encoder:
        increment(encoder, add, words)
        encoder.commit()
    assert encoder.state == "completed"


def test_block_that_has_discarded_commits_nothing(device, add, words):
    with device.encoder() as encoder:
        increment(encoder, add, words)
        encoder.discard()
    _host.quiesce()
    assert not np.asarray(words).any()


def test_committed_work_goes_on_when_the_block_raises(device, add, words):
    encoder = device.encoder()
    with contextlib.suppress(ZeroDivisionError), encoder:
        increment(encoder, add, words)
        encoder.commit()
        _ = 1 / 0
    encoder.wait()
    assert np.asarray(words).tolist() == [1] * 64


def test_dropped_encoder_discards_without_a_trace(device, add, words):
    with device.encoder() as warm:
        increment(warm, add, words)
    _host.quiesce()
    before = _host.live_objects()
    diagnostics = _host.diagnostics()
    for _ in range(2 * IN_FLIGHT):
        encoder = device.encoder()
        increment(encoder, add, words)
        del encoder
    assert _host.live_objects() == before
    assert _host.diagnostics() == diagnostics
    assert np.asarray(words).tolist() == [1] * 64


def test_committed_work_goes_on_when_the_encoder_is_dropped(device, add, words, host):
    host.set_faults("hang:ms=50")
    encoder = device.encoder()
    increment(encoder, add, words)
    encoder.commit()
    del encoder
    assert _host.quiesce()
    assert np.asarray(words).tolist() == [1] * 64


# ---- waiting -------------------------------------------------------------------------------------


def test_timeout_leaves_the_work_in_flight(device, add, words, host):
    host.set_faults("hang:ms=1000")
    encoder = device.encoder()
    increment(encoder, add, words)
    encoder.commit()
    start = time.monotonic()
    with pytest.raises(fm.errors.WaitTimeout) as caught:
        encoder.wait(timeout=0.05)
    assert 0.05 <= time.monotonic() - start < 0.8
    assert str(caught.value) == "Wait timed out after 0.05 s"
    assert encoder.state == "committed"
    encoder.wait(timeout=10)
    assert np.asarray(words).tolist() == [1] * 64


def test_zero_timeout_asks_without_waiting(device, host):
    host.set_faults("hang:ms=600")
    encoder = device.encoder()
    encoder.commit()
    start = time.monotonic()
    with pytest.raises(fm.errors.WaitTimeout):
        encoder.wait(0)
    assert time.monotonic() - start < 0.4
    encoder.wait()
    encoder.wait(0)


@pytest.mark.parametrize("timeout", [0.001, 0.021, 0.05])
def test_timeouts_are_kept_within_ten_milliseconds(device, host, timeout):
    host.set_faults("hang:ms=1000")
    encoder = device.encoder()
    encoder.commit()
    late = []
    for _ in range(3):
        start = time.monotonic()
        with pytest.raises(fm.errors.WaitTimeout):
            encoder.wait(timeout)
        late.append(time.monotonic() - start - timeout)
    # A busy machine may delay any one of them; none may come early.
    assert 0 <= min(late) < 0.01
    host.quiesce()


@pytest.mark.parametrize("timeout", [-1, -0.001, float("nan"), "1", [], 1j])
@pytest.mark.parametrize("call", ["wait", "commit_and_wait"])
def test_timeout_that_is_no_duration_is_refused(device, call, timeout):
    encoder = device.encoder()
    with pytest.raises(
        fm.errors.InvalidArgument, match="timeout must be None or seconds from 0 on"
    ):
        getattr(encoder, call)(timeout)
    assert encoder.state == "open"


@pytest.mark.parametrize("timeout", [None, float("inf"), 1e300, 10, np.float32(5)])
def test_long_timeouts_wait(device, timeout):
    device.encoder().commit_and_wait(timeout)


def test_several_command_buffers_are_waited_for_in_any_order(device, add):
    encoders, buffers = [], []
    for _ in range(8):
        buffers.append(device.alloc(64, "u32"))
        encoders.append(device.encoder())
        increment(encoders[-1], add, buffers[-1])
        encoders[-1].commit()
    for encoder in reversed(encoders):
        encoder.wait()
        encoder.wait()
    assert all(np.asarray(buffer).tolist() == [1] * 64 for buffer in buffers)


# ---- failures ------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("code", "kind"), [(2, "timeout"), (8, "out_of_memory"), (3, "page_fault")]
)
def test_failed_command_buffer_says_what_failed(device, add, words, host, code, kind):
    host.set_faults(f"exec:code={code}")
    encoder = device.encoder("layer 7")
    increment(encoder, add, words)
    encoder.commit()
    for _ in range(2):
        with pytest.raises(fm.errors.CommandBufferError) as caught:
            encoder.wait()
        error = caught.value
        assert (error.code, error.kind, error.label) == (code, kind, "layer 7")
        assert error.is_transient
        assert str(error).startswith("Command buffer error: ")
    assert encoder.state == "failed"


def test_failed_command_buffer_does_not_poison_the_next(device, add, words, host):
    host.set_faults("exec:code=8")
    failing = device.encoder()
    increment(failing, add, words)
    with pytest.raises(fm.errors.CommandBufferError):
        failing.commit_and_wait()
    np.asarray(words)[:] = 0
    with device.encoder() as encoder:
        increment(encoder, add, words)
    assert np.asarray(words).tolist() == [1] * 64


@pytest.mark.parametrize("site", ["cmdbuf", "encoder"])
def test_metals_refusal_to_make_a_command_buffer_is_an_error(device, add, words, host, site):
    host.set_faults(site)
    encoder = device.encoder("first")
    with pytest.raises(fm.errors.CommandBufferError) as caught:
        increment(encoder, add, words)
    assert caught.value.label == "first"
    # The next try works: nothing half made is left.
    increment(encoder, add, words)
    encoder.commit_and_wait()
    assert np.asarray(words).tolist() == [1] * 64


# ---- the queue's limit ---------------------------------------------------------------------------


def test_sixty_fifth_uncommitted_encoder_is_refused():
    device = fm.Device(threads=1)
    encoders = [device.encoder() for _ in range(IN_FLIGHT)]
    registry = fm.KernelRegistry(device)
    registry.register_source("add", ADD)
    pipeline, buffer = registry.get_pipeline("add"), device.alloc(64, "u32")
    for encoder in encoders:
        increment(encoder, pipeline, buffer)
    surplus = device.encoder()
    with pytest.raises(fm.errors.InvalidState, match="64"):
        increment(surplus, pipeline, buffer)
    assert surplus.command_buffer_count == 0
    encoders.pop().discard()
    increment(surplus, pipeline, buffer)
    surplus.commit_and_wait()
    assert np.asarray(buffer).tolist() == [1] * 64


def test_sixty_fifth_command_buffer_waits_without_the_gil(host):
    device = fm.Device(threads=1)
    host.set_faults("hang:ms=400")
    for _ in range(IN_FLIGHT):
        device.encoder().commit()
    beats = count_beats_during(device.encoder().commit)
    assert beats >= 5


def test_timeout_counts_the_wait_for_a_command_buffer_too(host):
    device = fm.Device(threads=1)
    host.set_faults("hang:ms=400")
    for _ in range(IN_FLIGHT):
        device.encoder().commit()
    encoder = device.encoder()
    began = time.monotonic()
    with pytest.raises(fm.errors.WaitTimeout) as caught:
        encoder.commit_and_wait(timeout=0.05)
    assert time.monotonic() - began < 0.35
    assert caught.value.seconds == 0.05
    # Nothing is committed, and nothing lost.
    assert (encoder.state, encoder.command_buffer_count) == ("open", 0)
    encoder.commit_and_wait()
    assert encoder.state == "completed"


def test_buffer_of_a_dispatch_that_waits_for_the_queue_is_not_released(host):
    device = fm.Device(threads=1)
    registry = fm.KernelRegistry(device)
    registry.register_source("add", ADD)
    pipeline, buffer = registry.get_pipeline("add"), device.alloc(64, "u32")
    host.set_faults("hang:ms=400")
    for _ in range(IN_FLIGHT):
        device.encoder().commit()
    encoder = device.encoder()
    waiting = threading.Thread(target=increment, args=(encoder, pipeline, buffer))
    waiting.start()
    time.sleep(0.1)
    with pytest.raises(fm.errors.InvalidState, match="has 2 users"):
        buffer.release()
    waiting.join()
    buffer.release()
    encoder.commit_and_wait()


def count_beats_during(call):
    """Count what another thread does in 10 ms steps while this one is inside a call."""
    stop, beats = threading.Event(), []

    def beat():
        while not stop.wait(0.01):
            beats.append(None)

    thread = threading.Thread(target=beat)
    thread.start()
    call()
    stop.set()
    thread.join()
    return len(beats)


def test_wait_releases_the_gil(device, host):
    host.set_faults("hang:ms=300")
    encoder = device.encoder()
    encoder.commit()
    assert count_beats_during(encoder.wait) >= 10
