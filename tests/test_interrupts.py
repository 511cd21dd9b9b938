"""Ctrl-C during a wait, in a process of its own: it is seen at once, and the work can go on."""

import signal
import subprocess
import sys
import time

import pytest

ATTEMPTS = 3  # the fastest counts: a busy machine may delay any one of them

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
    command = [sys.executable, "-c", script]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        delays = [interrupt_once(process) for _ in range(ATTEMPTS)]
        states = process.stdout.read().split()
    assert (process.returncode, states) == (0, ["committed", "completed"])
    assert min(delays) < 0.05
