"""CommandEncoder.completed: awaited in event loops, without a thread for each wait."""

import asyncio
import gc
import os
import threading
import time

import numpy as np
import pytest
from small_kernels import ADD, commit_add

import flashmetal as fm

ONE = (1).to_bytes(4, "little")


@pytest.fixture
def add(device):
    registry = fm.KernelRegistry(device)
    registry.register_source("add", ADD)
    return registry.get_pipeline("add")


def test_it_returns_after_the_work(device, add, host):
    host.set_faults("hang:ms=30")
    encoder, words = commit_add(device, add)

    async def main():
        await encoder.completed()
        assert encoder.state == "completed"
        await encoder.completed()

    asyncio.run(main())
    assert np.asarray(words).tolist() == [1] * 64


def test_work_that_has_ended_needs_no_turn_of_the_loop(device):
    encoder, _ = commit_add(device)
    encoder.wait()
    with pytest.raises(StopIteration):
        encoder.completed().send(None)


def test_the_loop_goes_on_meanwhile(device, host):
    host.set_faults("hang:ms=200")
    encoder, _ = commit_add(device)

    async def main():
        waiting = asyncio.ensure_future(encoder.completed())
        turns = 0
        while not waiting.done():
            turns += 1
            await asyncio.sleep(0.01)
        return turns

    assert asyncio.run(main()) >= 5


def test_no_thread_is_started(device, host):
    host.set_faults("hang:ms=50:count=8")
    encoders = [commit_add(device)[0] for _ in range(8)]

    async def main():
        waiting = [asyncio.ensure_future(encoder.completed()) for encoder in encoders]
        await asyncio.sleep(0.01)
        assert threading.active_count() == before
        await asyncio.gather(*waiting)

    before = threading.active_count()
    asyncio.run(main())


def test_many_tasks_await_many_encoders_in_any_order(device, add):
    async def one(encoder):
        await encoder.completed()
        return encoder.state

    async def main():
        in_flight = [commit_add(device, add) for _ in range(40)]
        encoders = [encoder for encoder, _ in reversed(in_flight)]
        return await asyncio.gather(*map(one, encoders), *map(one, encoders))

    assert asyncio.run(main()) == ["completed"] * 80


def test_errors_are_raised_to_everybody(device, host):
    host.set_faults("exec:code=8:ms=30")
    encoder, _ = commit_add(device)

    async def main():
        results = await asyncio.gather(
            *(encoder.completed() for _ in range(3)), return_exceptions=True
        )
        assert [error.kind for error in results] == ["out_of_memory"] * 3

    asyncio.run(main())


def test_a_cancelled_await_leaves_the_work_in_flight(device, host):
    host.set_faults("hang:ms=150")
    encoder, _ = commit_add(device)

    async def main():
        start = time.monotonic()
        with pytest.raises(asyncio.TimeoutError):
            await asyncio.wait_for(encoder.completed(), 0.02)
        assert time.monotonic() - start < 0.12
        assert encoder.state == "committed"
        await encoder.completed()

    asyncio.run(main())
    assert encoder.state == "completed"


def test_several_loops_await_one_encoder(device, host):
    host.set_faults("hang:ms=60")
    encoder, _ = commit_add(device)
    done = []

    def run():
        asyncio.run(encoder.completed())
        done.append(encoder.state)

    threads = [threading.Thread(target=run) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert done == ["completed"] * 4


def test_a_loop_may_close_before_the_work_is_done(device, host):
    host.set_faults("hang:ms=60")
    encoder, _ = commit_add(device)
    loop = asyncio.new_event_loop()
    waiting = loop.create_task(encoder.completed())
    loop.run_until_complete(asyncio.sleep(0))
    waiting.cancel()
    loop.run_until_complete(asyncio.sleep(0))
    loop.close()
    encoder.wait()
    asyncio.run(commit_add(device)[0].completed())


def test_use_before_commit_and_after_discard_is_refused(device):
    encoder = device.encoder()
    with pytest.raises(fm.errors.InvalidState, match="waited for before it is committed"):
        asyncio.run(encoder.completed())
    encoder.discard()
    with pytest.raises(fm.errors.InvalidState, match="discarded"):
        asyncio.run(encoder.completed())


def test_another_kind_of_loop_is_told_of_wait(device, host):
    host.set_faults("hang:ms=20")
    encoder, _ = commit_add(device)
    with pytest.raises(fm.errors.InvalidState, match=r"event loop of asyncio.*wait\(\)"):
        encoder.completed().send(None)
    encoder.wait()


def open_descriptors():
    return len(os.listdir("/proc/self/fd"))


@pytest.mark.skipif(not os.path.isdir("/proc/self/fd"), reason="it counts in /proc")
def test_descriptors_are_closed_with_their_loop(device, host):
    host.set_faults("hang:ms=1:count=1000")
    asyncio.run(commit_add(device)[0].completed())
    gc.collect()
    before = open_descriptors()
    for _ in range(20):
        asyncio.run(commit_add(device)[0].completed())
    gc.collect()
    assert open_descriptors() <= before


def test_wrapped_memory_is_given_back_by_the_await(device, add, host):
    host.set_faults("hang:ms=30")
    source = bytearray(256)
    encoder = device.encoder()
    wrapped = device.wrap(np.frombuffer(source, "u4"))
    encoder.dispatch(add, {0: wrapped, 1: wrapped, 2: ONE}, 2, 32)
    del wrapped
    encoder.commit()
    asyncio.run(encoder.completed())
    source.extend(b"x")
    assert source[:4] == ONE
