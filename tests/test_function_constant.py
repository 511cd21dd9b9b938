"""Function constants: every type, by index and by name, and what does not fit."""

import math

import numpy as np
import pytest

import flashmetal as fm
from flashmetal import _host
from flashmetal.errors import InvalidArgument, InvalidType, ShaderCompilationError
from flashmetal.function_constant import FunctionConstant

# Type, index and a value that shows sign, size and rounding.
VALUES = {
    "bool": True,
    "char": -128,
    "uchar": 255,
    "short": -(2**15),
    "ushort": 2**16 - 1,
    "int": -(2**31),
    "uint": 2**32 - 1,
    "long": -(2**63),
    "ulong": 2**64 - 1,
    "half": -0.0999755859375,
    "float": 0.10000000149011612,
    "bool3": (True, False, True),
    "char2": (-1, 127),
    "uchar4": (1, 2, 3, 255),
    "short3": (1, -2, 3),
    "ushort2": (1, 65535),
    "int4": (-1, 2, -3, 4),
    "uint3": (1, 2, 2**32 - 1),
    "long2": (2**63 - 1, -(2**63)),
    "ulong4": (2**64 - 1, 2**64 - 1, 2**64 - 1, 2**64 - 1),
    "half3": (1.0, -math.inf, 65504.0),
    "float4": (1.0, math.inf, -0.0, 3.4028234663852886e38),
}
INDICES = {kind: 10 + place for place, kind in enumerate(VALUES)}
BIG = 1000
SOURCE = (
    "#include <metal_stdlib>\nusing namespace metal;\n#define BASE 10\n"
    + "".join(
        f"constant {kind} a_{kind} [[function_constant(BASE + {index - 10})]];\n"
        for kind, index in INDICES.items()
    )
    + "typedef uint32_t count_type;\n"
    + f"namespace inner {{ constant count_type count [[function_constant({BIG})]]; }}\n"
    + "constant bool has_more [[function_constant(1001)]];\n"
    + "constant int more = has_more ? 7 : 0;\n"
    + "kernel void all(device uchar *out [[buffer(0)]]) {\n    device uchar *at = out;\n"
    + "".join(f"    *(device {kind} *)at = a_{kind}; at += sizeof({kind});\n" for kind in VALUES)
    + "}\nkernel void counted(device uint *out [[buffer(0)]]) { out[0] = inner::count + more; }\n"
    + "kernel void none(device uint *out [[buffer(0)]]) { out[0] = 5; }\n"
    + "kernel void sized(device uint *out [[buffer(0)]]) {\n"
    + "    uint array[inner::count + BASE]; out[0] = sizeof(array); }\n"
)
DTYPES = {
    "bool": "?",
    "char": "i1",
    "uchar": "u1",
    "short": "i2",
    "ushort": "u2",
    "int": "i4",
    "uint": "u4",
    "long": "i8",
    "ulong": "u8",
    "half": "f2",
    "float": "f4",
}


@pytest.fixture
def registry(device):
    registry = fm.KernelRegistry(device)
    for name in ("all", "counted", "none", "sized"):
        registry.register_source(name, SOURCE)
    return registry


def run(pipeline, bytes_out=4):
    out = pipeline.device.alloc(bytes_out, "u8")
    with pipeline.device.encoder() as encoder:
        encoder.dispatch(pipeline, {0: out}, 1, 1)
    return np.array(out)


def as_memory(kind, value):
    """Return the value's bytes in Metal: three components take the room of four."""
    scalar = kind.rstrip("234")
    values = np.zeros({1: 1, 2: 2, 3: 4, 4: 4}[int(kind[len(scalar) :] or 1)], DTYPES[scalar])
    values[: np.size(value)] = value
    return values.tobytes(), np.size(value) * values.itemsize


def test_every_type_reaches_the_kernel_exactly(registry):
    pipeline = registry.get_pipeline("all", {INDICES[kind]: v for kind, v in VALUES.items()})
    memory = run(pipeline, 512).tobytes()
    for kind, value in VALUES.items():
        expected, meaningful = as_memory(kind, value)
        assert memory[:meaningful] == expected[:meaningful], kind
        memory = memory[len(expected) :]
    assert pipeline.constants == {INDICES[kind]: value for kind, value in VALUES.items()}
    assert str(pipeline.constants[INDICES["float4"]][2]) == "-0.0"


def test_names_indices_and_arrays_are_one_pipeline(registry):
    first = registry.get_pipeline("all", {INDICES[kind]: v for kind, v in VALUES.items()})
    scalars = {f"a_{kind}": v for kind, v in reversed(VALUES.items())}
    assert registry.get_pipeline("all", scalars) is first
    arrays = {
        name: np.array(value, DTYPES[name[2:].rstrip("234")]) for name, value in scalars.items()
    }
    assert registry.get_pipeline("all", arrays) is first
    assert registry.is_cached("all", arrays)
    assert registry.cached_count == 1


def test_values_become_the_declared_type(registry):
    plain = registry.get_pipeline("counted", {BIG: 1, "has_more": True})
    for value in (True, np.uint8(1), np.int64(1), np.bool_(True), np.array(1)):
        assert registry.get_pipeline("counted", {"count": value, 1001: 1}) is plain
    assert run(plain).view("u4") == [8]
    rest = {f"a_{kind}": value for kind, value in VALUES.items()}
    halves = [registry.get_pipeline("all", rest | {"a_half": v}) for v in (0.1, np.float16(0.1))]
    assert halves[0] is halves[1]
    assert registry.get_pipeline("all", rest | {"a_half": -0.0}) is not registry.get_pipeline(
        "all", rest | {"a_half": 0.0}
    )


def test_a_constant_that_another_kernel_uses_may_be_given(registry):
    shared = {f"a_{kind}": value for kind, value in VALUES.items()} | {"count": 3, "has_more": 0}
    assert run(registry.get_pipeline("none", shared)).view("u4") == [5]
    assert run(registry.get_pipeline("counted", shared)).view("u4") == [3]


@pytest.mark.parametrize(
    ("constants", "error", "text"),
    [
        ({BIG: 1.5}, InvalidType, "'count' (index 1000, uint) must be an integer from 0 to 42949"),
        ({"count": 2.0}, InvalidType, "'count' (index 1000, uint) must be an integer"),
        ({"count": -1}, InvalidArgument, "'count' (index 1000, uint) must be an integer from 0"),
        ({"count": None}, InvalidType, "must be an integer"),
        ({"count": "1"}, InvalidType, "must be an integer"),
        ({"a_uchar": 300}, InvalidArgument, "an integer from 0 to 255, got 300"),
        ({"a_char": 128}, InvalidArgument, "an integer from -128 to 127, got 128"),
        ({"a_ulong": 2**64}, InvalidArgument, "from 0 to 18446744073709551615"),
        ({"has_more": 2}, InvalidArgument, "(index 1001, bool) must be True or False, got 2"),
        ({"has_more": 1.0}, InvalidType, "must be True or False, got 1.0"),
        ({"a_float": 1e39}, InvalidArgument, "must be a number from -3.40282e+38 to 3.40282e+38"),
        ({"a_float": 10**400}, InvalidArgument, "must be a number from"),
        ({"a_half": 65520}, InvalidArgument, "must be a number from -65504 to 65504, got 65520"),
        ({"a_float": "1"}, InvalidType, "must be a number, got '1'"),
        ({"a_float": 1j}, InvalidType, "must be a number, got 1j"),
        ({"a_float": np.complex64(1)}, InvalidType, "must be a number"),
        ({"a_float": np.ones(1)}, InvalidType, "must be a number"),
        ({"a_int4": 1}, InvalidType, "(index 26, int4) must be 4 numbers, got 1"),
        ({"a_int4": (1, 2, 3)}, InvalidType, "must be 4 numbers, got (1, 2, 3)"),
        ({"a_int4": "1234"}, InvalidType, "must be 4 numbers"),
        ({"a_int4": np.ones((2, 2))}, InvalidType, "must be 4 numbers"),
        ({"a_int4": (1, 2, 3, 4.5)}, InvalidType, "must be an integer from"),
        ({BIG: 1, "count": 1}, InvalidArgument, "'count' (index 1000, uint) is given twice"),
        (
            {"counts": 1},
            InvalidArgument,
            "no function constant 'counts': the text declares 'a_bool'",
        ),
        ({5: 1}, InvalidArgument, "no function constant 5: the text declares 'a_bool' (index 10, "),
    ],
)
def test_what_does_not_fit_is_refused_by_name(registry, constants, error, text):
    with pytest.raises(InvalidArgument) as caught:
        registry.get_pipeline("counted", constants)
    assert type(caught.value) is error
    assert str(caught.value).startswith("Invalid argument: counted: ")
    assert text in str(caught.value)
    assert not registry.cached_count


def test_a_text_without_constants_says_so(registry):
    registry.register_source("k", "kernel void k() {}")
    with pytest.raises(InvalidArgument, match="k: no function constant 0: the text declares none"):
        registry.get_pipeline("k", {0: 1})


@pytest.mark.parametrize("name", ["counted", "sized"])
def test_a_constant_that_the_kernel_needs_is_named_with_its_index(registry, name):
    with pytest.raises(ShaderCompilationError) as caught:
        registry.get_pipeline(name, {"has_more": False})
    assert f"function '{name}' needs function constants that were given no value" in str(
        caught.value
    )
    assert "'count' (index 1000)" in str(caught.value)
    pipeline = registry.get_pipeline(name, {"has_more": False, "count": 2})
    assert run(pipeline).view("u4") == [2 if name == "counted" else 48]


def test_a_type_that_has_no_values_is_refused():
    with pytest.raises(InvalidArgument, match=r"k: .*'odd' \(index 0, \?\) has a type without"):
        FunctionConstant(0, "?", "odd").pack(1, "k")


def test_the_constants_of_a_text_are_listed(registry):
    listed = registry.function_constants("none")
    assert [(c.index, c.type, c.name) for c in listed] == [
        *((index, kind, f"a_{kind}") for kind, index in INDICES.items()),
        (BIG, "uint", "count"),
        (1001, "bool", "has_more"),
    ]


def test_is_cached_compiles_nothing(registry):
    before = _host.compile_count()
    assert not registry.is_cached("counted", {"count": 1})
    assert _host.compile_count() == before
    registry.get_pipeline("counted", {"count": 1, "has_more": 0})
    assert registry.is_cached("counted", {1001: False, BIG: 1})
    assert not registry.is_cached("counted", {1001: False, BIG: 2})
