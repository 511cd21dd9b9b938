"""Kernels that do what no kernel may: each ends its command buffer and harms nothing else."""

import platform
import re
import signal
import subprocess
import sys

import numpy as np
import pytest
from small_kernels import HEADER

import flashmetal as fm

pytestmark = pytest.mark.skipif(
    not fm._host.available(), reason="what a fault does to a GPU is not ours to test"
)

# Its frame is far larger than a guard and than all other stacks of the threadgroup.
GIANT_FRAME = """
kernel void giant_frame(device uint *out [[buffer(0)]], uint i [[thread_position_in_grid]]) {
    volatile uint private_memory[1000000];
    for (uint j = 0; j < 1000000; j++) private_memory[j] = j;
    out[i] = private_memory[i];
}
"""

MEETS = """
kernel void meets(device uint *out [[buffer(0)]], uint i [[thread_position_in_grid]],
                  uint t [[thread_index_in_threadgroup]]) {
    threadgroup uint shared[64];
    shared[t] = t;
    threadgroup_barrier(mem_flags::mem_threadgroup);
    out[i] = shared[63 - t];
}
"""


# Far behind the buffer, so that nothing of the process is hit.
FAR = "1000000000"

# What is wrong, where it stands, and the kernel's body with a mark there.
PLACES = {
    "a store": "out[i] = 1;\nif (i == 5)\n    out[FAR] = 2; // here",
    "a private array": """
        float mem[16];
        for (uint j = 0; j < 1000000 * (i + 1); j++)
            mem[j] = out[j % 16]; // here
        out[i] = mem[i];""",
    "a vectorised, unrolled loop": """
        float sum = 0;
        for (uint j = 0; j < 64; j++)
            sum += out[FAR + j]; // here
        out[i] = sum;""",
    "a loop that becomes a call of the C library": """
        for (uint j = 0; j < 4096; j++)
            out[FAR + j] = 0; // here""",
    "a call of the standard library": """
        simdgroup_matrix<float, 8, 8> m;
        simdgroup_load(m, out, 8);
        simdgroup_store(m, out + FAR, 8); // here""",
    "an atomic operation": """
        atomic_fetch_add_explicit((device atomic_uint *)out + FAR, // here
                                  1u, memory_order_relaxed);""",
    "a macro": """
        out[i] = 0;
        REACH(out); // here
        out[i + 1] = 1;""",
    "a template": "out[i] = at(out, FAR);",
    "a function that is called": "out[i] = outlined(out, FAR);",
    "a trap": "if (i == 3)\n    __builtin_trap(); // here",
}
if platform.machine() == "x86_64":  # others divide by zero
    PLACES["a division"] = "device int *o = (device int *)out;\no[i] = 7 / o[i + 64]; // here"

AROUND = """
#define REACH(P) P[FAR] = 1
template <class T> T at(device T *p, uint n) {{
    return p[n]; // template
}}
[[clang::noinline]] float outlined(device float *p, uint n) {{
    return p[n + 1]; // function
}}
kernel void wild(device float *out [[buffer(0)]], uint i [[thread_position_in_grid]]) {{
    {}
}}
"""


def message(device, name, text, **headers):
    """Run a kernel that must end in a page fault, and return what is said of it."""
    registry = fm.KernelRegistry(device)
    for header, content in headers.items():
        registry.register_header(f"{header}.h", content)
    registry.register_source(name, text)
    out = device.alloc(128, "f32")
    np.asarray(out)[:] = 0
    return fault(device, registry.get_pipeline(name), {0: out})


def fault(device, pipeline, arguments):
    with pytest.raises(fm.errors.CommandBufferError) as caught, device.encoder() as encoder:
        encoder.dispatch(pipeline, arguments, 1, 64)
    assert caught.value.kind == "page_fault"
    return str(caught.value)


def line_of(text, mark):
    return text.split(mark)[0].count("\n") + 1


@pytest.mark.parametrize("what", PLACES)
def test_a_fault_names_the_line_of_the_source(device, what):
    text = (HEADER + AROUND.format(PLACES[what])).replace("FAR", FAR)
    mark = {"a template": "// template", "a function that is called": "// function"}
    line = line_of(text, mark.get(what, "// here"))
    said = message(device, "wild", text)
    assert "kernel 'wild': threadgroup (0, 0, 0), thread (" in said
    assert f") at program_source:{line} " in said


def test_a_fault_in_a_registered_header_is_placed_there(device):
    header = "#pragma once\ninline float far(device float *p) {\n    return p[1000000000];\n}\n"
    text = HEADER + '#include "own.h"\n' + AROUND.format("out[i] = far(out);")
    assert " at own.h:3 touched" in message(device, "wild", text, own=header)


def test_of_an_instruction_that_the_optimiser_moves_a_line_before_is_named(device):
    body = (
        "float s = 0;\nfor (uint j = 0; j <= i; j++)\n    s += out[FAR + i]; // here\nout[i] = s;"
    )
    text = (HEADER + AROUND.format(body)).replace("FAR", FAR)
    near = re.search(r" (?:at|near) program_source:(\d+) ", message(device, "wild", text))
    assert line_of(text, "kernel void") <= int(near[1]) <= line_of(text, "// here")


def test_an_exhausted_stack_names_the_line_of_the_function(device):
    said = message(device, "giant_frame", HEADER + GIANT_FRAME)
    line = line_of(HEADER + GIANT_FRAME, "kernel void")
    assert re.search(rf" (at|near) program_source:{line} ran out of stack", said)


def run(device, name, text, out):
    registry = fm.KernelRegistry(device)
    registry.register_source(name, HEADER + text)
    with device.encoder() as encoder:
        encoder.dispatch(registry.get_pipeline(name), {0: out}, 1, 64)


def test_a_frame_larger_than_the_stack_reaches_no_other_stack(device):
    out = device.alloc(64, "u32")
    run(device, "meets", MEETS, out)
    with pytest.raises(fm.errors.CommandBufferError, match="ran out of stack") as caught:
        run(device, "giant_frame", GIANT_FRAME, out)
    assert caught.value.kind == "page_fault"
    run(device, "meets", MEETS, out)
    assert np.asarray(out).tolist() == list(range(63, -1, -1))


def test_a_kernel_that_overwrites_the_end_of_its_stack_leaves_the_next_one_whole(device):
    text = (HEADER + AROUND.format(PLACES["a private array"])).replace("FAR", FAR)
    message(device, "wild", text)
    out = device.alloc(64, "u32")
    run(device, "meets", MEETS, out)
    assert np.asarray(out).tolist() == list(range(63, -1, -1))


# Each reads its indices from `at`, which the compiler does not know. What is declared, the access
# that is wrong, what is read afterwards, and indices that are out of bounds.
ARRAYS = {
    "an element behind": ("float a[4] = {};", "a[at[0]] = 1;", "a[at[2]]", (4,)),
    "an element before": ("float a[4] = {};", "a[at[0]] = 1;", "a[at[2]]", (-1,)),
    "far behind": ("float a[4] = {};", "a[at[0]] = 1;", "a[at[2]]", (2000000000,)),
    "far before": ("float a[4] = {};", "a[at[0]] = 1;", "a[at[2]]", (-30000,)),
    "a read": ("float a[4] = {out[0], out[1], out[2], 0};", "out[i] = a[at[0]];", "a[0]", (4,)),
    "half an element": (
        "uint a[4] = {};",
        "*(thread packed_uint2 *)(a + at[0]) = packed_uint2(1);",
        "a[at[2]]",
        (3,),
    ),
    "bytes": ("uint a[4] = {};", "((thread uchar *)a)[at[0]] = 1;", "a[at[2]]", (16,)),
    "vectors": ("half4 a[8] = {};", "a[at[0]].y = 1;", "a[at[2]].y", (8,)),
    "a component of a vector": ("float4 v = {};", "v[at[0]] = 1;", "v[at[2]]", (4,)),
    "a column of a matrix": ("float4x4 m(1);", "m[at[0]][at[1]] = 1;", "m[at[2]].x", (4, 0)),
    "a library's array": ("array<float, 4> a = {};", "a[at[0]] = 1;", "a[at[2]]", (-2,)),
    "an array of arrays": (
        "float a[4][4] = {};",
        "a[at[0]][at[1]] = 1;",
        "a[at[2]][at[3]]",
        (3, 4),
    ),
    "the last array of a structure": (
        "Two two = {};",
        "two.last[at[0]] = 1;",
        "two.first[at[2]] + two.last[at[3]]",
        (4,),
    ),
    "the first array of a structure": (
        "Two two = {};",
        "two.first[at[0]] = 1;",
        "two.first[at[2]] + two.last[at[3]]",
        (-1,),
    ),
    "one of two arrays": (
        "float a[4] = {}, b[4] = {}; thread float *one = at[1] ? a : b;",
        "one[at[0]] = 1;",
        "a[at[2]] + b[at[3]]",
        (4,),
    ),
    "a function": ("float a[4] = {};", "put(a, at[0]);", "a[at[2]]", (4,)),
    "a function that asks to stay apart": (
        "float a[4] = {};",
        "put_apart(a, at[0], out);",
        "a[at[2]]",
        (16,),
    ),
    "a large function, called twice": (
        "float a[4] = {}, b[4] = {}; spread(b, at[3], out);",
        "spread(a, at[0], out);",
        "a[at[2]] + b[at[2]]",
        (40,),
    ),
    "a loop": (
        "float a[4];\nfor (int j = 0; j <= at[0]; j++)",
        "a[j] = out[j];",
        "a[at[2]]",
        (4,),
    ),
    "a loop that clears": (
        "float a[4];\nfor (int j = 0; j <= at[0]; j++)",
        "a[j] = 0;",
        "a[at[2]]",
        (4,),
    ),
    "a table": ("", "out[i] = table[at[0]];", "0", (8,)),
}

INDEXED = """
constant float table[8] = {{1, 2, 3, 4, 5, 6, 7, 8}};
struct Two {{
    float first[4], last[4];
}};
void put(thread float *a, int n) {{
    a[n] = 1; // function
}}
__attribute__((noinline)) void put_apart(thread float *a, int n, device float *out) {{
    a[n] = 1; // apart
    if (out[0] > 5) a[0] = 9;
}}
#define AGAIN(TERM) TERM; TERM; TERM; TERM; TERM; TERM; TERM; TERM
void spread(thread float *a, int n, device float *out) {{
    float s = out[0];
    AGAIN(AGAIN(s = fma(s, s, out[uint(s) % 8])));
    a[n] = s; // spread
}}
kernel void indexed(device float *out [[buffer(0)]], device const int *at [[buffer(1)]],
                    uint i [[thread_position_in_grid]]) {{
    {}
    {} // here
    out[i] += {};
}}
"""


@pytest.fixture(
    scope="module",
    params=[False, pytest.param(True, marks=pytest.mark.slow)],
    ids=["plain", "checked"],
)
def any_device(request):
    return fm.Device(engine="simt", checks=request.param)


@pytest.mark.keeps_objects
@pytest.mark.parametrize("what", ARRAYS)
def test_what_leaves_an_array_is_a_fault_of_its_line(any_device, what):
    declared, access, result, wrong = ARRAYS[what]
    text = HEADER + INDEXED.format(declared, access, result)
    registry = fm.KernelRegistry(any_device)
    registry.register_source("indexed", text)
    pipeline = registry.get_pipeline("indexed")
    at = any_device.alloc(4, "i32")
    arguments = {0: any_device.alloc(64, "f32"), 1: at}
    np.asarray(at)[:] = 0
    with any_device.encoder() as encoder:
        encoder.dispatch(pipeline, arguments, 1, 1)
    np.asarray(at)[: len(wrong)] = wrong
    marks = {"put(": "// function", "put_apart(": "// apart", "spread(": "// spread"}
    line = line_of(text, marks.get(access.split("(")[0] + "(", "// here"))
    said = fault(any_device, pipeline, arguments)
    assert said.endswith(
        f"kernel 'indexed': threadgroup (0, 0, 0), thread (63, 0, 0) at program_source:{line} "
        "ran outside a private array or a constant table"
    )


def test_an_inner_array_may_be_left_for_the_next_one(device):
    text = HEADER + INDEXED.format(
        "float a[4][4] = {};", "a[0][at[0]] = 5;", "a[at[1]][at[2]] + (&a[0][0])[at[3]]"
    )
    registry = fm.KernelRegistry(device)
    registry.register_source("indexed", text)
    out, at = device.alloc(1, "f32"), device.alloc(4, "i32")
    np.asarray(out)[:] = 0
    np.asarray(at)[:] = 14, 3, 2, 14
    with device.encoder() as encoder:
        encoder.dispatch(registry.get_pipeline("indexed"), {0: out, 1: at}, 1, 1)
    assert np.asarray(out)[0] == 10


@pytest.mark.parametrize("index", [-30000, 60000, -(2**16)])
def test_what_leaps_over_the_end_of_the_stack_is_a_fault(device, index):
    text = HEADER + INDEXED.format(
        "volatile float a[4];", "a[at[0]] = 1;", "a[at[2]]"
    )  # the compiler takes volatile accesses for meant
    registry = fm.KernelRegistry(device)
    registry.register_source("indexed", text)
    at = device.alloc(4, "i32")
    np.asarray(at)[:] = index, 0, 0, 0
    arguments = {0: device.alloc(64, "f32"), 1: at}
    said = fault(device, registry.get_pipeline("indexed"), arguments)
    line = line_of(text, "// here")
    assert f" at program_source:{line} ran outside a private array, and of the stack" in said


ORDERS = ("highest", "lowest", "random")

SYNCHRONISES = """
void meet() {{
    simdgroup_barrier(mem_flags::mem_threadgroup);
}}
template <class T, uint N> void meet_often() {{
    for (uint j = 0; j < N; j++)
        simdgroup_barrier(mem_flags::mem_none);
}}
kernel void synchronises(device uint *out [[buffer(0)]], uint i [[thread_position_in_grid]],
                         uint lane [[thread_index_in_simdgroup]],
                         uint group [[simdgroup_index_in_threadgroup]]) {{
    {}
    out[i] = i + 1;
}}
"""

SIMDGROUP = "simdgroup_barrier(mem_flags::mem_none);"
THREADGROUP = "threadgroup_barrier(mem_flags::mem_none);"


def synchronise(order, body):
    """Run a kernel in one of the orders, and return what it wrote."""
    text = SYNCHRONISES.format(body)
    device = fm.Device(engine="simt", order=order)
    out = device.alloc(64, "u32")
    np.asarray(out)[:] = 0
    run(device, "synchronises", text, out)
    return np.array(out)


@pytest.mark.parametrize("order", ORDERS)
@pytest.mark.parametrize("first", ["simdgroup", "threadgroup"])
@pytest.mark.parametrize("second", ["simdgroup", "threadgroup"])
def test_lanes_at_different_barriers_are_reported_with_both_lines(order, first, second):
    body = f"""if (lane < 8) {{
        {first}_barrier(mem_flags::mem_none); // first
    }} else {{
        {second}_barrier(mem_flags::mem_none); // second
    }}"""
    with pytest.raises(fm.errors.CommandBufferError, match="divergent") as caught:
        synchronise(order, body)
    text = HEADER + SYNCHRONISES.format(body)
    kinds = {"first": "", "second": ""}
    if "simdgroup" in (first, second):
        kinds = {"first": f" ({first}_barrier)", "second": f" ({second}_barrier)"}
    lines = {mark: line_of(text, f"// {mark}") for mark in kinds}
    said = f"waits at line {lines['first']}{kinds['first']}, thread "
    assert said in str(caught.value)
    assert f" at line {lines['second']}{kinds['second']}" in str(caught.value)


UNIFORM = {
    "a branch of a SIMD-group": f"if (group == 1) {{ {SIMDGROUP} }}",
    "a loop": f"for (uint j = 0; j < 3 + group; j++) {{ {SIMDGROUP} }}",
    "an unrolled loop": "meet_often<float, 4>();",
    "a function called from two places": "if (lane < 8) meet(); else meet();",
    "instances of a template": "if (lane < 8) meet_often<int, 2>(); else meet_often<uint, 2>();",
    "after an operation of some lanes": f"if (lane < 8) out[i] = simd_sum(lane); {SIMDGROUP}",
    "beside barriers of the threadgroup": f"{SIMDGROUP} {THREADGROUP} {SIMDGROUP}",
}


@pytest.mark.parametrize("what", UNIFORM)
def test_simdgroup_barriers_that_all_lanes_reach_are_no_fault(what):
    for order in ORDERS:
        assert synchronise(order, UNIFORM[what]).tolist() == list(range(1, 65)), order


def test_lanes_that_return_before_a_simdgroup_barrier_are_a_fault_where_orders_are_searched():
    body = f"if (lane == 3) return; {SIMDGROUP}"
    assert synchronise("highest", body).tolist() == [i % 32 != 3 and i + 1 for i in range(64)]
    for order in ("lowest", "random"):
        with pytest.raises(fm.errors.CommandBufferError, match="31 of 32 threads wait at line"):
            synchronise(order, body)


# Kernels that fault end their command buffer, whoever takes the signals over, and when.
TAKEN_OVER = """
import faulthandler
import numpy as np
import flashmetal as fm
TEXT = "kernel void k(device uint *out [[buffer(0)]], constant uint &i [[buffer(1)]]) {out[i] = 1;}"
device = fm.Device(engine="simt")
registry = fm.KernelRegistry(device)
registry.register_source("k", TEXT)
pipeline = registry.get_pipeline("k")

def run(index):
    encoder = device.encoder()
    encoder.dispatch(pipeline, {0: device.alloc(4, "u32"), 1: np.uint32(index).tobytes()}, 1, 1)
    encoder.commit_and_wait()

def faults():
    try:
        run(10**9)
    except fm.errors.CommandBufferError as error:
        return error.kind == "page_fault"
"""
SEQUENCES = {
    "enabled before": "faulthandler.enable(); run(0); assert faults()",
    "enabled after": "run(0); faulthandler.enable(); assert faults()",
    "enabled after a fault": "assert faults(); faulthandler.enable(); assert faults()",
    "enabled and disabled again and again": """
for _ in range(30):
    faulthandler.enable()
    assert faults()
    faulthandler.disable()
    assert faults()
faulthandler.enable()
run(0)""",
}


def run_python(text):
    return subprocess.run(
        [sys.executable, "-c", text], capture_output=True, text=True, timeout=60, check=False
    )


@pytest.mark.parametrize("sequence", SEQUENCES)
def test_a_kernel_faults_whoever_takes_signals_over(sequence):
    ending = "\nassert faulthandler.is_enabled()\nprint('alive')"
    process = run_python(TAKEN_OVER + SEQUENCES[sequence] + ending)
    assert (process.stdout, process.stderr, process.returncode) == ("alive\n", "", 0)


@pytest.mark.parametrize("sequence", SEQUENCES)
def test_faults_of_others_go_to_whom_they_belong(sequence):
    process = run_python(TAKEN_OVER + SEQUENCES[sequence] + "\nfaulthandler._sigsegv()")
    assert process.returncode == -signal.SIGSEGV
    assert process.stderr.count("Fatal Python error: Segmentation fault") == 1
