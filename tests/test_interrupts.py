"""Ctrl-C during a wait, in a process of its own: it is seen at once, and the work can go on."""

import os
import shutil
import signal
import subprocess
import sys
import time

import pytest

from flashmetal import _host

ATTEMPTS = 3  # the fastest counts: a busy machine may delay any one of them

# The jobs of a shell's background, which the tests may be one of, ignore Ctrl-C; so would a child.
LISTEN = """
import signal
signal.signal(signal.SIGINT, signal.default_int_handler)
"""

WAIT = """
import time
import flashmetal as fm
from flashmetal import _host

device = fm.Device()
_host.set_faults("hang:ms=3000")
encoder = device.encoder()
encoder.commit()
for _ in range({attempts}):
    print("waiting", flush=True)
    try:
        encoder.wait({timeout}, "{mode}")
    except KeyboardInterrupt:
        print(time.time(), flush=True)
print(encoder.state, flush=True)
encoder.wait()
print(encoder.state, flush=True)
"""

FULL_QUEUE = """
import time
import flashmetal as fm
from flashmetal import _host

device = fm.Device()
_host.set_faults("hang:ms=3000")
in_flight = [device.encoder() for _ in range(64)]
for encoder in in_flight:
    encoder.commit()
encoder = device.encoder()
for _ in range({attempts}):
    print("waiting", flush=True)
    try:
        encoder.commit()
    except KeyboardInterrupt:
        print(time.time(), flush=True)
print(encoder.state, encoder.command_buffer_count, flush=True)
encoder.commit_and_wait()
print(encoder.state, encoder.command_buffer_count, flush=True)
"""


# The kernel goes on when nobody waits for it any more, even at exit.
ENDLESS = """
import time
import flashmetal as fm

device = fm.Device(engine="simt", threads=1)
registry = fm.KernelRegistry(device)
text = "kernel void endless(device uint *out) {{ while (true) {{ }} }}"
registry.register_source("endless", text)
encoder = device.encoder()
encoder.dispatch(registry.get_pipeline("endless"), {{0: device.alloc(1, "u32")}}, 1, 1)
encoder.commit()
for _ in range({attempts}):
    print("waiting", flush=True)
    try:
        encoder.wait()
    except KeyboardInterrupt:
        print(time.time(), flush=True)
print(encoder.state, flush=True)
"""

COMPILER = """
import time
import flashmetal as fm
from flashmetal import _host

_host.set_cache("{cache}")
registry = fm.KernelRegistry(fm.Device())
registry.register_source("ends", "kernel void ends() {{ }}")
for _ in range({attempts}):
    print("waiting", flush=True)
    try:
        registry.get_pipeline("ends")
    except KeyboardInterrupt:
        print(time.time(), flush=True)
print(registry.cached_count, flush=True)
"""

# Answers what it is asked about itself, and never compiles.
HANGING_COMPILER = """#!/bin/sh
case "$*" in
-[-pd]*) exec {clang} "$@" ;;
esac
exec sleep 30
"""


def interrupt_once(process):
    """Return the seconds from the signal to the KeyboardInterrupt."""
    assert process.stdout.readline() == "waiting\n"
    time.sleep(0.1)
    sent = time.time()
    process.send_signal(signal.SIGINT)
    return float(process.stdout.readline()) - sent


@pytest.mark.parametrize(
    ("timeout", "mode"),
    [
        (None, "auto"),
        pytest.param(10, "block", marks=pytest.mark.slow),
        pytest.param(None, "spin", marks=pytest.mark.slow),
    ],
)
def test_wait_sees_ctrl_c_within_50_milliseconds(timeout, mode):
    script = WAIT.format(timeout=timeout, mode=mode, attempts=ATTEMPTS)
    assert states_after_interrupts(script) == ["committed", "completed"]


def test_encoder_that_waits_for_the_queue_sees_ctrl_c_and_can_go_on():
    script = FULL_QUEUE.format(attempts=ATTEMPTS)
    assert states_after_interrupts(script) == ["open", "0", "completed", "1"]


def test_kernel_without_an_end_leaves_the_process_its_ctrl_c_and_its_exit():
    script = ENDLESS.format(attempts=ATTEMPTS)
    assert states_after_interrupts(script) == ["committed"]


@pytest.mark.skipif(
    not _host.available() or _host.compiler() is None, reason="the compiler is Metal's own"
)
def test_compiler_that_hangs_is_ended_by_ctrl_c(tmp_path):
    script = COMPILER.format(cache=tmp_path, attempts=ATTEMPTS)
    clang = os.environ.get("FLASHMETAL_CLANG") or find_clang()
    hanging = tmp_path / "clang"
    hanging.write_text(HANGING_COMPILER.format(clang=clang))
    hanging.chmod(0o700)
    assert states_after_interrupts(script, FLASHMETAL_CLANG=str(hanging)) == ["0"]


def find_clang():
    names = (f"clang++-{version}" for version in range(30, 18, -1))
    return next(filter(None, map(shutil.which, names)), "clang++")


def states_after_interrupts(script, **environment):
    """Return what the script says last, after waits that are interrupted in time."""
    command = [sys.executable, "-c", LISTEN + script]
    environment = os.environ | environment
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True, env=environment) as process:
        delays = [interrupt_once(process) for _ in range(ATTEMPTS)]
        states = process.stdout.read().split()
    assert process.returncode == 0
    assert min(delays) < 0.05
    return states
