"""What an encode must not do: ask for memory, keep memory, mix up what threads do at once."""

import json
import os
import pathlib
import shutil
import subprocess
import sys
import threading
import time

import numpy as np
import pytest

import flashmetal as fm
from flashmetal import _host
from flashmetal.ops.flash_attention import FlashAttentionParams, encode_attention, register

HERE = pathlib.Path(__file__).parent
SHAPE = {"n_heads": 4, "n_kv_heads": 2, "head_dim": 64}
ROWS = 600
IN_FLIGHT = 64  # command buffers of a queue


class Decoding:
    """Buffers, pipelines and plans of one device."""

    def __init__(self, device, seed=0):
        self.device = device
        self.registry = fm.KernelRegistry(device)
        register(self.registry)
        random = np.random.default_rng(seed)
        self.q, self.out = (device.alloc((4, 64), "f32") for _ in range(2))
        self.k, self.v = (device.alloc((ROWS, 2, 64), "f16") for _ in range(2))
        for buffer in (self.q, self.k, self.v):
            np.asarray(buffer)[...] = random.standard_normal(buffer.shape)
        self.buffers = self.q, self.k, self.v, self.out
        self.plan = fm.DecodePlan(self.registry, *self.buffers, **SHAPE)

    def expected(self, seq_len):
        """The bits of encode_attention, in a buffer of its own."""
        out = self.device.alloc((4, 64), "f32")
        with self.device.encoder() as encoder:
            params = FlashAttentionParams(seq_len=seq_len, **SHAPE)
            encode_attention(encoder, self.registry, self.q, self.k, self.v, out, params)
        return np.asarray(out).tobytes()


@pytest.fixture
def decoding(device):
    return Decoding(device)


# ---- memory --------------------------------------------------------------------------------------


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="counts in glibc's malloc")
@pytest.mark.skipif(shutil.which("cc") is None, reason="no C compiler for the counter")
def test_hot_calls_ask_for_no_memory(tmp_path):
    counter = tmp_path / "count_allocations.so"
    source = HERE / "count_allocations.c"
    subprocess.run(["cc", "-O1", "-shared", "-fPIC", source, "-o", counter], check=True)
    environment = {**os.environ, "LD_PRELOAD": str(counter), "PYTHONMALLOC": "malloc"}
    run = subprocess.run(
        [sys.executable, HERE / "hot_path_allocations.py"],
        env=environment,
        capture_output=True,
        text=True,
        check=True,
    )
    counts = json.loads(run.stdout)
    assert counts.pop("control") >= 500
    assert counts == dict.fromkeys(counts, counts["nothing"])


def resident_bytes():
    pages = int(pathlib.Path("/proc/self/statm").read_text().split()[1])
    return pages * os.sysconf("SC_PAGE_SIZE")


@pytest.mark.slow
@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="reads /proc")
def test_memory_is_flat_over_a_million_encodes(decoding):
    launch = fm.LaunchPlan(
        decoding.plan.pipeline,
        dict(enumerate([*decoding.buffers, FlashAttentionParams(seq_len=1, **SHAPE).pack()])),
        4,
        256,
    )
    step = fm.DecodeStep([decoding.plan, fm.BARRIER, launch])
    params = FlashAttentionParams(seq_len=1, **SHAPE)

    def encode(rounds):
        for turn in range(rounds):
            encoder = decoding.device.encoder()
            for length in range(250):
                decoding.plan.encode(encoder, length, start=turn % 100)
                launch.patch(4, 16, length)
                step.encode(encoder, length)
                encode_attention(encoder, decoding.registry, *decoding.buffers, params)
            encoder.discard()

    encode(100)
    before, blocks = resident_bytes(), sys.getallocatedblocks()
    encode(1000)
    assert resident_bytes() - before < 1 << 20
    assert sys.getallocatedblocks() - blocks < 100


# ---- threads -------------------------------------------------------------------------------------


def in_threads(*calls):
    threads = [threading.Thread(target=call) for call in calls]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()


def test_threads_encode_plans_of_their_own(device):
    workers = [Decoding(device, seed) for seed in range(4)]
    found = {}

    def work(index):
        worker = workers[index]
        step = fm.DecodeStep([worker.plan, fm.BARRIER, worker.plan])
        for length in range(20, 60):
            with device.encoder() as encoder:
                step.encode(encoder, length + index)
            found[index, length] = np.asarray(worker.out).tobytes()

    in_threads(*(lambda index=index: work(index) for index in range(4)))
    for index, worker in enumerate(workers):
        for length in (20, 37, 59):
            assert found[index, length] == worker.expected(length + index)


def test_one_plan_in_several_threads_encodes_each_ones_rows(decoding):
    """The rows of one thread never reach the dispatch of another: the last encode decides."""
    plan, device = decoding.plan, decoding.device
    encoders = [device.encoder() for _ in range(4)]

    def work(index):
        for turn in range(300):
            plan.encode(encoders[index], 1 + (turn + 37 * index) % 250)

    in_threads(*(lambda index=index: work(index) for index in range(4)))
    for index, encoder in enumerate(encoders):
        assert encoder.dispatch_count == 300
        encoder.commit_and_wait()
        # Dispatches without a barrier are not ordered, but host Metal runs them as encoded.
        found = np.asarray(decoding.out).tobytes()
        assert found == decoding.expected(1 + (299 + 37 * index) % 250)


def test_one_encoder_in_several_threads_is_refused_or_served(decoding):
    encoder = decoding.device.encoder()
    refused = []

    def work():
        for length in range(200):
            try:
                decoding.plan.encode(encoder, length)
                encoder.memory_barrier()
            except fm.errors.InvalidState:
                refused.append(length)

    in_threads(*[work] * 4)
    assert 800 - len(refused) <= encoder.dispatch_count <= 800
    encoder.commit_and_wait()


@pytest.fixture
def full_queue(host):
    """Plans of a device whose queue is full for a while, and an encoder that has its place."""
    decoding = Decoding(fm.Device(threads=1))
    begun = decoding.device.encoder()
    decoding.plan.encode(begun, 1)
    host.set_faults("hang:ms=400")
    for _ in range(IN_FLIGHT - 1):
        decoding.device.encoder().commit()
    return decoding, begun


@pytest.mark.parametrize("kind", ["plan", "step"])
def test_encode_that_waits_for_the_queue_keeps_its_rows(full_queue, kind):
    decoding, begun = full_queue
    plan = decoding.plan if kind == "plan" else fm.DecodeStep([decoding.plan])
    waiting = decoding.device.encoder()
    thread = threading.Thread(target=plan.encode, args=(waiting, 100))
    thread.start()
    time.sleep(0.1)
    assert thread.is_alive()
    plan.encode(begun, 5)
    thread.join()
    begun.commit()
    waiting.commit_and_wait()
    assert np.asarray(decoding.out).tobytes() == decoding.expected(100)


@pytest.mark.parametrize("kind", ["plan", "step"])
def test_buffer_that_is_released_while_an_encode_waits_is_noticed(full_queue, kind):
    decoding, begun = full_queue
    plan = decoding.plan if kind == "plan" else fm.DecodeStep([decoding.plan])
    waiting, raised = decoding.device.encoder(), []

    def work():
        try:
            plan.encode(waiting, 100)
        except fm.errors.InvalidState as error:
            raised.append(str(error))

    thread = threading.Thread(target=work)
    thread.start()
    time.sleep(0.1)
    assert thread.is_alive()
    decoding.v.release()
    thread.join()
    assert raised == [
        "Invalid state: flash_attention_hd64: the buffer of argument 2 is released: "
        "its memory is given back"
    ]
    assert waiting.dispatch_count == 0
    begun.commit_and_wait()


@pytest.mark.filterwarnings("ignore:.*fork:DeprecationWarning")
def test_forked_child_is_refused(decoding):
    encoder = decoding.device.encoder()
    decoding.plan.encode(encoder, 5)
    step = fm.DecodeStep([fm.BARRIER, decoding.plan])
    child = os.fork()
    if child == 0:
        refused = 0
        for call in (decoding.plan.encode, step.encode):
            try:
                call(encoder, 5)
            except fm.errors.InvalidState as error:
                refused += "forked" in str(error)
        os._exit(refused)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 2
    encoder.discard()
    assert _host.quiesce()
