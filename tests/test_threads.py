"""Many threads at once: one compilation, no mixed-up work, no corrupted encoder."""

import threading
import uuid
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
from small_kernels import ADD, HEADER

import flashmetal as fm
from flashmetal import _host
from flashmetal._once import Once


def at_once(count, call):
    """Call from `count` threads that start together; return what came back or was raised."""
    barrier = threading.Barrier(count)

    def run(index):
        barrier.wait()
        try:
            return call(index)
        except Exception as error:
            return error

    with ThreadPoolExecutor(count) as pool:
        return list(pool.map(run, range(count)))


def slow_kernel(name):
    """A text that takes a while to compile, and that no cache has seen."""
    functions = "".join(
        f"inline uint f{i}(uint x) {{ return x * {i + 3}u ^ (x >> {i % 7 + 1}); }}\n"
        for i in range(50)
    )
    return (
        f"// {uuid.uuid4()}\n{HEADER}{functions}kernel void {name}(device uint *out [[buffer(0)]], "
        "uint i [[thread_position_in_grid]]) { out[i] = f49(f0(i)); }\n"
    )


def test_cold_pipeline_is_compiled_once_for_32_threads(device):
    registry = fm.KernelRegistry(device)
    registry.register_source("slow", slow_kernel("slow"))
    before = _host.compile_count()
    pipelines = at_once(32, lambda index: registry.get_pipeline("slow"))
    assert _host.compile_count() == before + 1
    assert len(set(map(id, pipelines))) == 1
    assert isinstance(pipelines[0], fm.Pipeline)


def test_failing_compilation_runs_once_for_those_who_wait(device):
    registry = fm.KernelRegistry(device)
    registry.register_source("slow", slow_kernel("slow") + "#error no\n")
    errors = at_once(32, lambda index: registry.get_pipeline("slow"))
    assert {type(error) for error in errors} == {fm.errors.ShaderCompilationError}
    assert registry.cached_count == 0


def test_other_names_stay_available_during_a_compilation(device):
    registry = fm.KernelRegistry(device)
    registry.register_source("slow", slow_kernel("slow"))
    registry.register_source("add", ADD)
    registry.prewarm(["add"])
    compiling = threading.Thread(target=registry.get_pipeline, args=("slow",))
    compiling.start()
    served = 0
    while compiling.is_alive() and not registry.is_cached("slow"):
        registry.get_pipeline("add")
        served += 1
    compiling.join()
    assert served > 10


def test_eight_threads_encode_and_wait(device):
    registry = fm.KernelRegistry(device)
    registry.register_source("add", ADD)

    def work(index):
        words = device.alloc(64, "u32")
        for _ in range(50):
            with device.encoder() as encoder:
                for _ in range(4):
                    args = {0: words, 1: words, 2: (index + 1).to_bytes(4, "little")}
                    encoder.dispatch(registry.get_pipeline("add"), args, 2, 32)
                    encoder.memory_barrier()
        return np.asarray(words).tolist()

    assert at_once(8, work) == [[200 * (index + 1)] * 64 for index in range(8)]


def test_eight_threads_wait_for_one_encoder(device):
    encoder = device.encoder()
    encoder.commit()
    assert at_once(8, lambda index: encoder.wait()) == [None] * 8


def test_encoder_in_use_by_two_threads_is_refused_not_corrupted(device):
    registry = fm.KernelRegistry(device)
    registry.register_source("add", ADD)
    pipeline = registry.get_pipeline("add")
    words = device.alloc(64, "u32")
    encoder = device.encoder()

    def work(index):
        refused = 0
        for _ in range(200):
            try:
                encoder.dispatch(pipeline, {0: words, 1: words, 2: bytes(4)}, 2, 32)
            except fm.errors.InvalidState:
                refused += 1
        return refused

    refused = at_once(8, work)
    assert encoder.dispatch_count == 1600 - sum(refused)
    encoder.commit_and_wait()


def test_encoder_that_another_thread_is_using_says_so(device):
    """A custom integer stands for whatever lets another thread run during a dispatch."""
    registry = fm.KernelRegistry(device)
    registry.register_source("add", ADD)
    encoder = device.encoder("shared")
    caught = []

    class Intruder:
        def __index__(self):
            for call in (encoder.commit, encoder.memory_barrier, encoder.discard):
                with pytest.raises(fm.errors.InvalidState) as error:
                    call()
                caught.append(str(error.value))
            return 1

    words = device.alloc(64, "u32")
    args = {0: words, 1: words, 2: bytes(4)}
    encoder.dispatch(registry.get_pipeline("add"), args, Intruder(), 32)
    assert caught == ["Invalid state: encoder 'shared' is in use by another thread"] * 3
    encoder.commit_and_wait()


# ---- Once ----------------------------------------------------------------------------------------


def test_once_tries_again_after_an_interrupt():
    """Whoever waits does not get another thread's Ctrl-C."""
    once = Once()
    started, interrupt = threading.Event(), threading.Event()

    def interrupted():
        started.set()
        interrupt.wait()
        raise KeyboardInterrupt

    def first():
        with pytest.raises(KeyboardInterrupt):
            once.get(interrupted)

    with ThreadPoolExecutor(2) as pool:
        leader = pool.submit(first)
        started.wait()
        follower = pool.submit(once.get, lambda: "made")
        interrupt.set()
        leader.result()
        assert follower.result() == "made"


def test_once_forgets_a_failure():
    once = Once()
    with pytest.raises(ZeroDivisionError):
        once.get(lambda: 1 / 0)
    assert once.value is None
    assert once.get(lambda: 5) == 5
    assert once.get(lambda: 1 / 0) == 5


ROWS = np.zeros((2048, 8, 128), "f4")  # so many that other threads run meanwhile


def test_appends_of_several_threads_are_done_or_refused(device):
    for _ in range(8):
        cache = fm.KVCache(device, 1, len(ROWS), 8, 128, growth="grow")
        ended = at_once(3, lambda index: cache.append(0, ROWS, ROWS))  # noqa: B023
        refusals = [error for error in ended if isinstance(error, fm.errors.InvalidState)]
        assert len(refusals) + cache.total(0) // len(ROWS) == 3
        assert all("another thread is appending" in str(error) for error in refusals)


def test_a_cache_is_not_released_under_an_append(device):
    for _ in range(8):
        cache = fm.KVCache(device, 1, len(ROWS), 8, 128)
        view = cache.k(0)
        # A segmentation fault if it were.
        appended, released = at_once(
            2,
            lambda index: view.release() if index else cache.append(0, ROWS, ROWS),  # noqa: B023
        )
        refused = [error for error in (appended, released) if isinstance(error, Exception)]
        assert all(isinstance(error, fm.errors.InvalidState) for error in refused)
        assert cache.total(0) == (0 if isinstance(appended, Exception) else len(ROWS))
