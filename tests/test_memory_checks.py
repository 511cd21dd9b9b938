"""Device(checks=...): what a kernel does wrong to memory ends its command buffer, named."""

import numpy as np
import pytest
from small_kernels import HEADER

import flashmetal as fm
from flashmetal.errors import CommandBufferError, InvalidArgument

pytestmark = pytest.mark.skipif(not fm._host.available(), reason="checks are host Metal's")

THREADS = 64
ARGUMENTS = """(device uint *out [[buffer(0)]], device const uint *in [[buffer(1)]],
    threadgroup uint *block [[threadgroup(0)]], uint i [[thread_position_in_grid]],
    uint t [[thread_index_in_threadgroup]], uint g [[threadgroup_position_in_grid]]) {
    device atomic_uint *counter = (device atomic_uint *)out;
"""

FENCE = "atomic_thread_fence(mem_flags::mem_device, memory_order_seq_cst); "


def last_reduces(before="", after="", read="out[2 + (t * 7 + 3) % 24]", width=8):
    """The last of three threadgroups to finish reads what all have written."""
    return (
        f"if (t < {width}) out[2 + g * {width} + t] = t; {before}"
        "if (t == 0) block[0] = atomic_fetch_add_explicit(counter, 1, memory_order_relaxed) == 2; "
        f"if (t < {width}) {{ {after} }}"
        f"threadgroup_barrier(mem_flags::mem_device_and_threadgroup); const bool last = block[0]; "
        f"if (last && t < 8) out[32 + t] = {read}; "
    )


# Body, threadgroups, and what is said of it; or nothing, where all is well.
THREADGROUP_BARRIER = "threadgroup_barrier(mem_flags::mem_threadgroup); "
DEVICE_BARRIER = "threadgroup_barrier(mem_flags::mem_device); "
OTHER_BARRIER = "threadgroup_barrier(mem_flags::mem_none); "
FILL = f"block[t] = 0; {THREADGROUP_BARRIER}"
BODIES = {
    "past_the_end": (
        "out[i + 1] = i;",
        1,
        r"thread \(63, 0, 0\) writes 4 bytes at program_source:\d+ of buffer\(0\) 'out' "
        "at byte 256, which has 256 bytes",
    ),
    "before_the_start": (
        "out[i] = in[int(i) - 1];",
        1,
        r"thread \(0, 0, 0\) reads 4 bytes at .* of buffer\(1\) 'in' at byte -4, which has 256",
    ),
    "half_past_the_end": (
        "if (t == 0) out[0] = uint(*(device const ulong *)(in + 63));",
        1,
        r"reads 8 bytes at .* of buffer\(1\) 'in' at byte 252, which has 256 bytes",
    ),
    "past_threadgroup_memory": (
        "block[t + 1] = t;",
        1,
        r"thread \(63, 0, 0\) writes 4 bytes at .* of threadgroup\(0\) 'block' at byte 256",
    ),
    "past_a_threadgroup_variable": (
        f"threadgroup uint one[64], other[64]; other[t] = one[t + 1] = t; {THREADGROUP_BARRIER}"
        "out[i] = one[t] + other[t];",
        1,
        r"thread \(63, 0, 0\) writes 4 bytes at .* of byte 256 of threadgroup variable 'one', "
        "which has 256 bytes",
    ),
    "before_a_threadgroup_variable": (
        f"threadgroup uint one[64], other[64]; one[t] = other[int(t) - 1] = t; "
        f"{THREADGROUP_BARRIER}out[i] = one[t] + other[t];",
        1,
        r"thread \(0, 0, 0\) writes 4 bytes at .* of byte -4 of threadgroup variable 'other'",
    ),
    "far_from_everything": (
        "out[i + (1ul << 40)] = 1;",
        1,
        r"thread \(63, 0, 0\) writes 4 bytes at .* of memory at 0x[0-9a-f]+, which no argument has",
    ),
    "to_the_stack_of_another_thread": (
        "volatile uint own[4]; own[int(in[0]) - 100000] = 1; out[i] = own[in[1]];",
        1,
        r"thread \(63, 0, 0\) writes 4 bytes at .* outside of its private arrays",
    ),
    "below_the_stack": (
        "volatile uint own[4]; own[int(in[0]) - 1000] = 1; out[i] = own[in[1]];",
        1,
        r"thread \(63, 0, 0\) writes 4 bytes at .* outside of its private arrays",
    ),
    "behind_an_array_of_the_caller": (
        "uint own[4] = {}; thread uint *volatile kept = own; out[i] = kept[in[0] + 20000];",
        1,
        r"thread \(63, 0, 0\) reads 4 bytes at .* outside of its private arrays",
    ),
    "to_constant": (
        "*(device uint *)in = i;",
        1,
        r"writes 4 bytes at .* of buffer\(1\) 'in' at byte 0, which is not to be written",
    ),
    "unwritten": (
        f"threadgroup uint shared[64]; if (t != 3) shared[t] = t; {THREADGROUP_BARRIER}"
        "out[i] = shared[63 - t];",
        1,
        r"thread \(60, 0, 0\) reads 4 bytes of threadgroup memory at program_source:.* that no "
        r"thread has written yet: byte 12 of threadgroup variable 'shared'",
    ),
    "no_barrier": (
        f"{FILL}block[t] = t; out[i] = block[t ^ 32];",
        1,
        r"race: .* writes at .* what .* reads at .*: threadgroup\(0\) 'block' at byte .*; "
        r"no threadgroup_barrier with mem_flags::mem_threadgroup is between",
    ),
    "exchange": (
        f"block[t] = t; {THREADGROUP_BARRIER}const uint other = block[t ^ 32]; block[t] = other;"
        "out[i] = other;",
        1,
        "race: .* reads at .* what .* writes at .*: ",
    ),
    "barrier_of_no_memory": (
        f"{FILL}block[t] = t; {OTHER_BARRIER}out[i] = block[t ^ 32];",
        1,
        "no threadgroup_barrier with mem_flags::mem_threadgroup is between",
    ),
    "barrier_of_other_memory": (
        f"out[t] = t; {THREADGROUP_BARRIER}out[t] = out[t ^ 32];",
        1,
        r"buffer\(0\) 'out' at byte .*; no threadgroup_barrier with mem_flags::mem_device is",
    ),
    "between_threadgroups": (
        "out[t] = g;",
        2,
        r"race: threadgroup \(1, 0, 0\), thread \(63, 0, 0\) writes at .* what "
        r"threadgroup \(0, 0, 0\), thread \(63, 0, 0\) writes at .*: .* byte 252; "
        "nothing orders the threadgroups of a dispatch",
    ),
    "read_modify_write": ("out[0] += t;", 2, "race: "),
    "atomic_and_not": (
        "if (i == 70) out[0] = 1; "
        "else atomic_fetch_add_explicit(counter, 1, memory_order_relaxed);",
        2,
        "race: .* writes at .* what .* atomically writes at .*: ",
    ),
    "bytes_of_neighbours": ("((device uchar *)out)[i] = i; ((threadgroup half *)block)[t] = t;", 2),
    "overlapping_bytes": ("((device uchar *)out)[i % 96] = i;", 2, "race: "),
    "barriers": (
        f"block[t] = t; {THREADGROUP_BARRIER}out[t] = block[63 - t]; {DEVICE_BARRIER}"
        f"const uint other = out[63 - t]; {DEVICE_BARRIER}out[t] = other;",
        1,
    ),
    "atomics": ("atomic_fetch_add_explicit(counter, i, memory_order_relaxed);", 2),
    "same_value": ("out[0] = 5; block[0] = 5;", 2),
    "last_threadgroup_reduces": (last_reduces(DEVICE_BARRIER), 3),
    "last_threadgroup_reduces_by_threads": (
        last_reduces("if (t == 0) ", read="out[2 + t % 3]", width=1),
        3,
    ),
    "last_threadgroup_reduces_behind_fences": (last_reduces(FENCE + THREADGROUP_BARRIER), 3),
    "last_threadgroup_resets_the_counter": (
        last_reduces(DEVICE_BARRIER) + "if (last && t == 0) out[0] = 0;",
        3,
    ),
    "last_threadgroup_without_barrier": (
        last_reduces(),
        3,
        r"race: threadgroup \(2, 0, 0\), thread .* reads at .* what threadgroup \(0, 0, 0\), "
        r"thread \(\d+, 0, 0\) writes at .*; the atomics that order the two threadgroups do not "
        "order this: no threadgroup_barrier with mem_flags::mem_device is between",
    ),
    "last_threadgroup_behind_another_barrier": (
        last_reduces(THREADGROUP_BARRIER),
        3,
        "race: .* do not order this: no threadgroup_barrier with mem_flags::mem_device",
    ),
    "last_threadgroup_writes_late": (
        last_reduces(DEVICE_BARRIER, after="out[2 + g * 8 + t] = 1;"),
        3,
        "race: .* do not order this",
    ),
    "last_simdgroup_reduces": (
        "threadgroup atomic_uint *done = (threadgroup atomic_uint *)block + 63; "
        f"if (t == 0) block[63] = 0; {THREADGROUP_BARRIER} if (t < 48) block[t] = t; "
        "simdgroup_barrier(mem_flags::mem_threadgroup); uint n = 0; "
        "if (t % 32 == 0) n = atomic_fetch_add_explicit(done, 1, memory_order_relaxed);"
        "n = simd_broadcast_first(n); if (n == 1) out[t] = block[(t + 32) % 48];",
        1,
    ),
    "threadgroups_apart": ("out[i % 128] = in[0];", 1),
    "initialised": ("threadgroup uint shared[64] = {0}; out[i] = shared[63 - t];", 1),
    "whole_vectors": (
        f"threadgroup float3 *vectors = (threadgroup float3 *)block; if (t < 4) vectors[t] = {{}}; "
        f"{THREADGROUP_BARRIER}out[i] = uint(vectors[t % 4].y);",
        1,
    ),
}
# In lockstep all is well.
LOCKSTEP = f"{FILL}block[t] = t; out[i] = block[t ^ 1];"
LOCKSTEP_ORDERED = (
    "block[t] = t; simdgroup_barrier(mem_flags::mem_threadgroup); out[i] = block[t ^ 1];"
)
TEXT = HEADER + "".join(
    f"kernel void {name}{ARGUMENTS}{body}\n}}\n"
    for name, body in {
        **{name: case[0] for name, case in BODIES.items()},
        "lockstep": LOCKSTEP,
        "lockstep_ordered": LOCKSTEP_ORDERED,
    }.items()
)


class Checked:
    def __init__(self, checks):
        self.device = fm.Device(engine="simt", checks=checks)
        self.registry = fm.KernelRegistry(self.device)

    def dispatch(self, encoder, name, out, groups=1):
        self.registry.register_source(name, TEXT)
        arguments = {0: out, 1: self.device.alloc(THREADS, "u32")}
        pipeline = self.registry.get_pipeline(name)
        memory = {0: THREADS * 4}
        encoder.dispatch(pipeline, arguments, groups, THREADS, threadgroup_memory=memory)

    def run(self, name, groups=1, out=None):
        with self.device.encoder() as encoder:
            self.dispatch(encoder, name, out or self.device.alloc(THREADS, "u32"), groups)


@pytest.fixture(scope="module")
def checked():
    return Checked(True)


@pytest.mark.keeps_objects
@pytest.mark.parametrize("name", BODIES)
def test_findings(checked, name):
    _, groups, *text = BODIES[name]
    if not text:
        checked.run(name, groups)
        return
    with pytest.raises(CommandBufferError, match=text[0]) as caught:
        checked.run(name, groups)
    assert f"kernel '{name}'" in str(caught.value)
    is_access = "race" not in text[0] and "barrier" not in text[0] and "unwritten" not in name
    assert caught.value.kind == ("page_fault" if is_access else "internal")


@pytest.mark.keeps_objects
def test_lockstep_is_a_race_only_where_strict(checked):
    checked.run("lockstep")
    checked.run("lockstep_ordered")
    strict = Checked("strict")
    strict.run("lockstep_ordered")
    for name in ("lockstep", "same_value"):
        with pytest.raises(CommandBufferError, match="no simdgroup_barrier"):
            strict.run(name)


@pytest.mark.keeps_objects
def test_atomics_need_fences_beside_them_where_strict():
    strict = Checked("strict")
    strict.run("last_threadgroup_reduces", 3)
    strict.run("last_threadgroup_reduces_behind_fences", 3)
    with pytest.raises(CommandBufferError, match="do not order this"):
        strict.run("last_threadgroup_reduces_by_threads", 3)


@pytest.mark.keeps_objects
def test_wrapped_memory_ends_where_the_array_does(checked):
    memory = np.zeros(4 * THREADS, np.uint32)
    with pytest.raises(CommandBufferError, match="at byte 256, which has 256 bytes"):
        checked.run("past_the_end", out=checked.device.wrap(memory[:THREADS]))


@pytest.mark.keeps_objects
def test_dispatches_need_a_barrier_between_them(checked):
    def run_both(barrier):
        out = checked.device.alloc(THREADS, "u32")
        with checked.device.encoder() as encoder:
            checked.dispatch(encoder, "atomics", out)
            if barrier:
                encoder.memory_barrier()
            checked.dispatch(encoder, "threadgroups_apart", out)

    run_both(barrier=True)
    text = (
        r"kernel 'threadgroups_apart': race: .* what kernel 'atomics', .* atomically writes at .*"
        "no memory barrier is between the two dispatches"
    )
    with pytest.raises(CommandBufferError, match=text):
        run_both(barrier=False)


@pytest.mark.keeps_objects
def test_without_checks_nothing_is_found():
    plain = Checked(False)
    plain.run("between_threadgroups", 2)
    assert plain.device.checks is False
    assert plain.device != Checked(True).device
    assert Checked("strict").device != Checked(True).device


@pytest.mark.parametrize(
    ("options", "text"),
    [
        ({"checks": True}, "checks=True needs engine='simt'.*, got engine='auto'"),
        ({"checks": "strict", "engine": "native"}, "needs engine='simt'.*, got engine='native'"),
        ({"checks": "all", "engine": "simt"}, "checks must be False, True or 'strict', got 'all'"),
        ({"checks": 1, "engine": "simt"}, "checks must be False, True or 'strict', got 1"),
    ],
    ids=str,
)
def test_bad_checks_are_refused(options, text):
    with pytest.raises(InvalidArgument, match=text):
        fm.Device(**options)
