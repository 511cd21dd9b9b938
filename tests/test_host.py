"""The controls of the host device: faults, limits, counts."""

import os
import subprocess
import sys

import numpy as np
import pytest

from flashmetal.errors import InvalidArgument


@pytest.mark.parametrize("spec", ["nosuchsite", "buffer:after=x", "buffer:colour=1", "buffer;;:"])
def test_bad_faults_are_refused_and_nothing_is_armed(device, host, spec):
    with pytest.raises(InvalidArgument, match="not a list of faults"):
        host.set_faults(spec)
    assert device.alloc(4, "u8").nbytes == 4


def test_faults_are_counted_and_disarmed(device, host):
    assert host.set_faults("buffer:after=1:count=2;encoder") == 2
    device.alloc(4, "u8")
    for _ in range(2):
        with pytest.raises(MemoryError):
            device.alloc(4, "u8")
    device.alloc(4, "u8")
    host.set_faults("buffer")
    host.set_faults(None)
    device.alloc(4, "u8")


def test_limits_go_back_to_their_defaults(host):
    defaults = host.limits()
    host.set_limits(max_buffer_length=1 << 20, budget=1 << 21)
    assert host.limits() == {**defaults, "max_buffer_length": 1 << 20, "budget": 1 << 21}
    host.set_limits(budget=1 << 22)
    assert host.limits() == {**defaults, "budget": 1 << 22}
    host.set_limits()
    assert host.limits() == defaults


def test_live_objects_count_buffers(device, host):
    before = host.live_objects()
    buffers = [device.alloc(4, "u8") for _ in range(3)]
    arrays = [device.wrap(np.zeros(64, "f4")) for _ in range(2)]
    assert host.live_objects() == before + 5
    del buffers, arrays
    assert host.live_objects() == before
    assert host.live_objects("NoSuchClass") == 0


def test_idle_queues_are_quiet(device, host):
    assert host.quiesce(1000)


def test_limits_of_the_cpu_are_measured(host):
    memory = np.ones(1 << 14, "f4")
    for threads in (1, 2):
        assert host.multiply_adds(threads) > 0
        assert host.read_rate(memory, threads=threads) > 0


def test_limits_of_the_cpu_take_threads_and_memory(host):
    with pytest.raises(InvalidArgument, match="threads"):
        host.multiply_adds(0)
    with pytest.raises(InvalidArgument, match="read_rate: memory holds 512 bytes"):
        host.read_rate(bytes(512), threads=2)
    with pytest.raises((BufferError, ValueError)):
        host.read_rate(np.ones((64, 64), "f4")[:, ::2])


def run_with_cache(folder, *options):
    text = "import flashmetal as fm; fm.Device(); fm.Device(); print('made')"
    return subprocess.run(
        [sys.executable, *options, "-c", text],
        env={**os.environ, "FLASHMETAL_CACHE_DIR": str(folder)},
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )


def test_a_cache_that_keeps_nothing_is_warned_of_once(host, tmp_path):
    (tmp_path / "file").write_text("")
    process = run_with_cache(tmp_path / "file" / "cache")
    assert (process.returncode, process.stdout) == (0, "made\n")
    assert process.stderr.count("CacheWarning: FLASHMETAL_CACHE_DIR keeps no compiled kernels") == 1
    assert f"compiles them anew: {tmp_path}/file/cache: Not a directory" in process.stderr
    process = run_with_cache(tmp_path / "file", "-W", "error")
    assert process.returncode == 1
    assert f"{tmp_path}/file: Not a directory" in process.stderr


def test_a_cache_that_others_may_write_to_is_warned_of(host, tmp_path):
    tmp_path.chmod(0o770)
    stderr = run_with_cache(tmp_path).stderr
    assert f"{tmp_path}: another user owns it or may write to it" in stderr


def test_a_cache_that_is_kept_is_not_warned_of(host, tmp_path):
    assert run_with_cache(tmp_path / "new" / "folder", "-W", "error").stderr == ""
