"""Device: its properties, options and what happens when it is not there."""

import os
import pathlib
import subprocess
import sys
import textwrap

import numpy as np
import pytest
from small_kernels import ADD

import flashmetal as fm
from flashmetal import _host
from flashmetal.errors import DeviceNotFound, InvalidArgument


def test_properties(device):
    assert device.name
    assert device.page_size >= 4096
    assert device.page_size.bit_count() == 1
    assert device.max_buffer_length >= 1 << 28
    assert device.max_threadgroup_memory >= 32_768
    assert device.max_threads_per_threadgroup >= 1024
    assert device.language_version >= (3, 0)
    assert device.unified_memory
    assert device.name in repr(device)


def test_host_device_tells_its_engine_and_threads(device):
    if not device.is_host:
        pytest.skip("Apple's Metal has neither")
    assert device.page_size == 16_384
    assert device.engine == "auto"
    assert device.threads >= 1


def test_equal_options_make_equal_devices(device):
    other = fm.Device()
    assert other is not device
    assert other == device
    assert hash(other) == hash(device)
    assert other.registry_id == device.registry_id
    assert device != device.registry_id


@pytest.mark.parametrize(
    "options",
    [
        {"threads": 1},
        {"engine": "simt"},
        {"engine": "native"},
        {"tensor_api": False},
        {"max_threads": 256},
        {"order": "lowest"},
        {"order": "random", "seed": 1},
        {"order": "random", "seed": 2},
    ],
    ids=str,
)
def test_other_options_make_other_devices(host, options):
    plain, other = fm.Device(threads=2), fm.Device(**{"threads": 2, **options})
    assert other != plain
    assert other == fm.Device(**{"threads": 2, **options})


@pytest.mark.parametrize("engine", ["auto", "simt", "native"])
def test_options_show_in_the_properties(host, engine):
    device = fm.Device(engine=engine, threads=3)
    assert device.engine == engine
    assert device.threads == 3


@pytest.mark.parametrize(
    ("options", "text"),
    [
        ({"engine": "cuda"}, "engine must be one of auto, simt, native, got 'cuda'"),
        ({"engine": 3}, "engine must be one of auto, simt, native, got 3"),
        ({"order": "sideways"}, "order must be one of highest, lowest, random, got 'sideways'"),
        ({"threads": 0}, "threads must be an integer from 1 to .*, got 0"),
        ({"threads": 100_000}, "threads must be an integer from 1 to 1024, got 100000"),
        ({"threads": 2**32 + 1}, "threads must be an integer from 1 to .*, got 4294967297"),
        ({"threads": 1.5}, "threads must be an integer from 1 to .*, got 1.5"),
        ({"max_threads": -1}, "max_threads must be an integer from 1 to .*, got -1"),
        ({"seed": -1}, "seed must be an integer from 0 to .*, got -1"),
    ],
    ids=str,
)
def test_bad_options_are_refused_by_name(options, text):
    with pytest.raises(InvalidArgument, match=text):
        fm.Device(**options)


def test_no_device(host):
    host.set_faults("device")
    with pytest.raises(DeviceNotFound, match="No Metal GPU device found — Apple Silicon required"):
        fm.Device()
    assert fm.Device().name


def test_refused_queue_leaves_nothing(host):
    host.set_faults("queue")
    with pytest.raises(fm.errors.CommandBufferError, match="queue"):
        fm.Device()
    assert fm.Device().name


def run(script):
    """Runs Python text in a process of its own; its stderr must stay empty."""
    done = subprocess.run(
        [sys.executable, "-W", "ignore::DeprecationWarning", "-c", textwrap.dedent(script)],
        capture_output=True,
        text=True,
        timeout=30,
        check=False,
        # Where no folder is called flashmetal.
        cwd=pathlib.Path(__file__).parent,
    )
    assert (done.returncode, done.stderr) == (0, "")
    return done.stdout


def test_forked_child_gets_an_error_and_exits_cleanly():
    printed = run("""
        import os
        import flashmetal as fm

        device = fm.Device()
        buffer = device.alloc(4, "f32")
        child = os.fork()
        if child == 0:
            for call in (fm.Device, lambda: device.alloc(4, "f32"), lambda: device.wrap(bytes(64))):
                try:
                    call()
                except fm.errors.InvalidState as error:
                    print(error, flush=True)
            del buffer, device
            raise SystemExit(0)
        assert os.waitpid(child, 0)[1] == 0
        device.alloc(4, "f32")
    """)
    assert printed.count("Invalid state: this process was forked") == 3


def test_fork_before_the_first_device_is_fine():
    run("""
        import os
        import flashmetal as fm

        child = os.fork()
        device = fm.Device()
        device.alloc(4, "f32")
        if child:
            assert os.waitpid(child, 0)[1] == 0
    """)


def test_interpreter_ends_cleanly_with_everything_alive():
    run("""
        import numpy as np
        import flashmetal as fm

        device = fm.Device()
        buffer = device.alloc(1 << 20, "u8")
        wrapped = device.wrap(np.zeros(1 << 20, "u1"))
        view = np.asarray(buffer)
        cycle = [wrapped]
        cycle.append(cycle)
    """)


@pytest.mark.parametrize("at_exit", ["kept", "dropped"])
def test_interpreter_ends_cleanly_with_work_in_flight(host, at_exit):
    run(f"""
        import numpy as np
        import flashmetal as fm
        from flashmetal import _host
        from small_kernels import ADD

        device = fm.Device()
        registry = fm.KernelRegistry(device)
        registry.register_source("add", ADD)
        pipeline = registry.get_pipeline("add")
        _host.set_faults("hang:ms=200:count=3")
        encoders = [device.encoder() for _ in range(3)]
        for encoder in encoders:
            memory = device.wrap(np.zeros(4096, "u4"))
            delta = np.uint32(1).tobytes()
            encoder.dispatch_threads(pipeline, {{0: memory, 1: memory, 2: delta}}, 4096, 64)
            encoder.commit()
        if "{at_exit}" == "dropped":
            del memory, encoder, encoders
    """)


@pytest.mark.skipif(not _host.available(), reason="a GPU's threads are not the process's")
def test_devices_that_nobody_uses_any_more_keep_no_threads():
    before = len(os.listdir("/proc/self/task"))
    for seed in range(20):
        device = fm.Device(engine="simt", threads=3, order="random", seed=1000 + seed)
        registry = fm.KernelRegistry(device)
        registry.register_source("add", ADD)
        memory = device.alloc(4096, "u32")
        with device.encoder() as encoder:
            delta = np.uint32(1).tobytes()
            pipeline = registry.get_pipeline("add")
            encoder.dispatch(pipeline, {0: memory, 1: memory, 2: delta}, 64, 64)
        del device, registry, memory, encoder, pipeline
    # Those of the last one, and who is about to end.
    assert len(os.listdir("/proc/self/task")) <= before + 10


# ---- environment ---------------------------------------------------------------------------------


@pytest.mark.skipif(not _host.available(), reason="only the host device reads variables")
@pytest.mark.parametrize(
    ("variable", "value", "wanted"),
    [
        ("FLASHMETAL_CPU", "foo", "one of "),
        ("FLASHMETAL_CPU", "X86-64", "one of "),
        ("FLASHMETAL_THREADS", "foo", "a whole number from 1 to 65536"),
        ("FLASHMETAL_THREADS", "0", "a whole number from 1 to 65536"),
        ("FLASHMETAL_THREADS", "2 threads", "a whole number from 1 to 65536"),
        ("FLASHMETAL_TIMEOUT", "soon", "seconds, more than 0"),
        ("FLASHMETAL_TIMEOUT", "0", "seconds, more than 0"),
        ("FLASHMETAL_TIMEOUT", "nan", "seconds, more than 0"),
        ("FLASHMETAL_CACHE_DIR", "cache", "an absolute path"),
    ],
)
def test_environment_variable_that_means_nothing_is_refused(monkeypatch, variable, value, wanted):
    monkeypatch.setenv(variable, value)
    with pytest.raises(InvalidArgument) as caught:
        fm.Device()
    text = str(caught.value)
    assert text.startswith(
        f"Invalid argument: the environment variable {variable} must be {wanted}"
    )
    assert text.endswith(f', not "{value}"')
    monkeypatch.setenv(variable, "")  # as good as not set
    fm.Device()


@pytest.mark.skipif(not _host.available(), reason="only the host device has threads")
def test_threads_that_are_given_need_no_environment(monkeypatch):
    monkeypatch.setenv("FLASHMETAL_THREADS", "foo")
    assert fm.Device(threads=2).threads == 2


@pytest.mark.skipif(not _host.available(), reason="only the host device has a timeout")
def test_timeout_that_is_given_needs_no_environment(monkeypatch):
    monkeypatch.setenv("FLASHMETAL_TIMEOUT", "foo")
    fm.Device(timeout=2)
