"""Kernels that never end: the device's timeout ends them, and harms nothing else."""

import asyncio
import math

import numpy as np
import pytest
from small_kernels import HEADER

import flashmetal as fm

pytestmark = pytest.mark.skipif(
    not fm._host.available(), reason="what ends a kernel on a GPU is not ours to test"
)

SECONDS = 0.1

# What goes on and on, the mark at the line that does.
ENDLESS = {
    "nothing at all": "while (true) { } // here",
    "a look at a flag": "while (READ(flag) == 0) { } // here",
    "barriers": """while (READ(flag) == 0) // here
        threadgroup_barrier(mem_flags::mem_device); // here""",
    "operations of a SIMD-group": """while (simd_sum(lane) > READ(flag)) { } // here""",
    "a function that is called": "spin(flag);",
}

KERNEL = (
    HEADER
    + """
#define READ(P) atomic_load_explicit(P, memory_order_relaxed)
[[clang::noinline]] void spin(device atomic_uint *flag) {{
    while (READ(flag) == 0) {{ }} // function
}}
kernel void endless(device atomic_uint *flag [[buffer(0)]], device uint *out [[buffer(1)]],
                    uint i [[thread_position_in_grid]], uint lane [[thread_index_in_simdgroup]]) {{
    {}
    out[i] = i;
}}
"""
)


def encode(device, body):
    """Commit a kernel with this body over 128 threads; return the encoder and what it writes to."""
    registry = fm.KernelRegistry(device)
    registry.register_source("endless", KERNEL.format(body))
    flag, out = device.alloc(1, "u32"), device.alloc(128, "u32")
    encoder = device.encoder("work")
    encoder.dispatch(registry.get_pipeline("endless"), {0: flag, 1: out}, 2, 64)
    encoder.commit()
    return encoder, out


def lines_of(text, mark):
    return [n for n, line in enumerate(text.splitlines(), 1) if mark in line]


def check_usable(device):
    encoder, out = encode(device, "")
    encoder.wait()
    assert np.asarray(out).tolist() == list(range(128))


@pytest.mark.parametrize("checks", [False, True])
@pytest.mark.parametrize("what", ENDLESS)
def test_a_kernel_without_an_end_is_ended_at_its_line(what, checks):
    device = fm.Device(engine="simt", checks=checks, timeout=SECONDS)
    encoder, _ = encode(device, ENDLESS[what])
    with pytest.raises(fm.errors.CommandBufferError) as caught:
        encoder.wait(10)
    assert caught.value.kind == "timeout"
    assert caught.value.label == "work"
    said = str(caught.value)
    mark = "// function" if what.startswith("a function") else "// here"
    lines = lines_of(KERNEL.format(ENDLESS[what]), mark)
    assert "kernel 'endless': threadgroup (" in said
    assert any(f") at program_source:{line} was still running" in said for line in lines)
    assert f"after {SECONDS} seconds, the device's timeout or FLASHMETAL_TIMEOUT" in said
    check_usable(device)


WAITS = {
    "block": lambda encoder: encoder.wait(10, "block"),
    "spin": lambda encoder: encoder.wait(10, "spin"),
    "await": lambda encoder: asyncio.run(encoder.completed()),
}


@pytest.mark.parametrize("how", WAITS)
def test_every_way_to_wait_sees_the_end(how):
    encoder, _ = encode(fm.Device(timeout=SECONDS), ENDLESS["nothing at all"])
    with pytest.raises(fm.errors.CommandBufferError, match="was still running"):
        WAITS[how](encoder)
    assert encoder.state == "failed"


def test_the_environment_says_it_for_devices_that_do_not(monkeypatch):
    monkeypatch.setenv("FLASHMETAL_TIMEOUT", str(SECONDS))
    # Options that no other test has: devices live as long as the process.
    device = fm.Device(order="random", seed=20)
    encoder, _ = encode(device, ENDLESS["nothing at all"])
    with pytest.raises(fm.errors.CommandBufferError, match=f"after {SECONDS} seconds"):
        encoder.wait(10)
    endless = fm.Device(order="random", seed=20, timeout=math.inf)
    assert endless != device


def test_commands_behind_the_end_are_left_out():
    """The next dispatches of the command buffer do not run; the next command buffer does."""
    device = fm.Device(timeout=SECONDS)
    registry = fm.KernelRegistry(device)
    registry.register_source("endless", KERNEL.format("if (flag) while (true) { }"))
    registry.register_source("ends", KERNEL.format("").replace("endless", "ends"))
    flag, out = device.alloc(1, "u32"), device.alloc(128, "u32")
    encoder = device.encoder()
    for name in ("endless", "ends"):
        encoder.dispatch(registry.get_pipeline(name), {0: flag, 1: out}, 2, 64)
    with pytest.raises(fm.errors.CommandBufferError):
        encoder.commit_and_wait(10)
    assert not np.asarray(out).any()
    check_usable(device)


@pytest.mark.parametrize(
    ("timeout", "error"),
    [(0, fm.errors.InvalidArgument), (-1, fm.errors.InvalidArgument),
     (math.nan, fm.errors.InvalidArgument), ("1", fm.errors.InvalidType)],
)  # fmt: skip
def test_what_is_no_duration_is_refused(timeout, error):
    with pytest.raises(error, match="Device: timeout must be seconds"):
        fm.Device(timeout=timeout)
