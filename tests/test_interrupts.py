"""Ctrl-C during a wait, in a process of its own: it is seen at once, and the work can go on."""

import signal
import subprocess
import sys
import time

WAIT = """
import flashmetal as fm
from flashmetal import _host
import time

device = fm.Device()
_host.set_faults("hang:ms=2000")
encoder = device.encoder()
encoder.commit()
print("waiting", flush=True)
try:
    encoder.wait(timeout={timeout})
except KeyboardInterrupt:
    print("interrupted", time.time(), flush=True)
print(encoder.state, flush=True)
encoder.wait()
print(encoder.state, flush=True)
"""


def interrupt(timeout):
    """Return the seconds from the signal to the KeyboardInterrupt."""
    command = [sys.executable, "-c", WAIT.format(timeout=timeout)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout.readline() == "waiting\n"
        time.sleep(0.1)
        sent = time.time()
        process.send_signal(signal.SIGINT)
        word, seen = process.stdout.readline().split()
        rest = process.stdout.read().split()
    assert (process.returncode, word, rest) == (0, "interrupted", ["committed", "completed"])
    return float(seen) - sent


def test_wait_sees_ctrl_c_within_50_milliseconds():
    assert interrupt("None") < 0.05


def test_wait_with_a_timeout_sees_ctrl_c_within_50_milliseconds():
    assert interrupt("10") < 0.05
