"""Ctrl-C during a wait, in a process of its own: it is seen at once, and the work can go on."""

import signal
import subprocess
import sys
import time

import pytest

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


def interrupt_once(process):
    """Return the seconds from the signal to the KeyboardInterrupt."""
    assert process.stdout.readline() == "waiting\n"
    time.sleep(0.1)
    sent = time.time()
    process.send_signal(signal.SIGINT)
    return float(process.stdout.readline()) - sent


@pytest.mark.parametrize(("timeout", "mode"), [(None, "auto"), (10, "block"), (None, "spin")])
def test_wait_sees_ctrl_c_within_50_milliseconds(timeout, mode):
    script = WAIT.format(timeout=timeout, mode=mode, attempts=ATTEMPTS)
    assert states_after_interrupts(script) == ["committed", "completed"]


def test_encoder_that_waits_for_the_queue_sees_ctrl_c_and_can_go_on():
    script = FULL_QUEUE.format(attempts=ATTEMPTS)
    assert states_after_interrupts(script) == ["open", "0", "completed", "1"]


def states_after_interrupts(script):
    """Return what the script says last, after waits that are interrupted in time."""
    command = [sys.executable, "-c", LISTEN + script]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        delays = [interrupt_once(process) for _ in range(ATTEMPTS)]
        states = process.stdout.read().split()
    assert process.returncode == 0
    assert min(delays) < 0.05
    return states
