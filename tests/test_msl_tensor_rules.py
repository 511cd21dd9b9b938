"""What the compiler refuses about tensors, when it knows them, and what a kernel may not do."""

import numpy as np
import pytest

import flashmetal as fm

HEADERS = """#include <metal_stdlib>
#include <metal_tensor>
#include <MetalPerformancePrimitives/MetalPerformancePrimitives.h>
using namespace metal;
using namespace mpp::tensor_ops;
"""
KERNEL = (
    HEADERS
    + """
kernel void broken(device {left} *left [[buffer(0)]], device {right} *right [[buffer(1)]],
                   device {result} *result [[buffer(2)]]) {{
    constexpr matmul2d_descriptor descriptor({shape});
    matmul2d<descriptor, {scope}> product;
    auto a = tensor(left, dextents<int, 2>(64, 64));
    auto b = tensor(right, dextents<int, 2>(64, 64));
    auto c = tensor(result, dextents<int, 2>(64, 64));
    {body}
}}
"""
)
DEFAULTS = {
    "left": "half",
    "right": "half",
    "result": "float",
    "shape": "16, 32, 16",
    "scope": "execution_simdgroup",
    "body": "product.run(a, b, c);",
}
LINE = 1 + KERNEL[: KERNEL.index("{body}")].count("\n")
INPUTS = (
    "auto x = product.get_left_input_cooperative_tensor<half, half, float>();"
    "auto y = product.get_right_input_cooperative_tensor<half, half, float>();"
    "product.run(x, y, c);"
)
DESTINATION = (
    "auto s = product.get_destination_cooperative_tensor<decltype(a), decltype(b), float>();"
    "auto r = product.get_row_reduction_destination_cooperative_tensor<decltype(a), decltype(b), "
    "float>();"
)


def source(**changes):
    return KERNEL.format(**(DEFAULTS | changes))


def message_of(device, text, **options):
    registry = fm.KernelRegistry(device)
    registry.register_source("broken", text, options=fm.CompileOptions(**options))
    with pytest.raises(fm.errors.ShaderCompilationError) as caught:
        registry.get_pipeline("broken")
    return caught.value.message


def test_the_kernel_that_the_others_break_compiles(device):
    registry = fm.KernelRegistry(device)
    registry.register_source("broken", source())
    assert registry.get_pipeline("broken").max_threads > 0


@pytest.mark.parametrize(
    ("changes", "expected"),
    [
        ({"shape": "8, 8"}, "at least one of m and n is a multiple of 16"),
        ({"shape": "24, 40"}, "at least one of m and n is a multiple of 16"),
        ({"shape": "0, 16"}, "at least one of m and n is a multiple of 16"),
        ({"shape": "64, 62"}, "n is a multiple of 8"),
        ({"shape": "16, 16, 8"}, "k is dynamic or a multiple of 16"),
        ({"shape": "16, 16, 0"}, "k is dynamic or a multiple of 16"),
        ({"shape": "16, 16, 16", "body": INPUTS}, "m, n and k are 16 or 32, and one of them is 32"),
        ({"shape": "64, 32, 32", "body": INPUTS}, "m, n and k are 16 or 32, and one of them is 32"),
        ({"shape": "16, 32", "body": INPUTS}, "as input needs a descriptor with a k"),
        ({"left": "const half"}, "the elements of its tensors may not be const"),
        ({"result": "const float"}, "the elements of its tensors may not be const"),
        ({"left": "int"}, "no product of these element types"),
        ({"result": "int"}, "no product of these element types"),
        (
            {"left": "char", "right": "char", "result": "bfloat"},
            "no product of these element types",
        ),
        ({"body": "const auto d = a; product.run(d, b, c);"}, "in a variable that is not const"),
        (
            {"body": "auto d = tensor(left, dextents<int, 3>(4, 4, 4)); product.run(d, b, c);"},
            "of two dimensions",
        ),
        ({"body": "a.slice(1);"}, "slice takes an origin for each dimension"),
        ({"body": "a.static_slice<4>(1, 2);"}, "static_slice takes an extent for each dimension"),
        (
            {"body": "tensor<device half, dextents<int, 2>> h(left, dextents<int, 2>(1, 1));"},
            "only a tensor_inline is made over a pointer",
        ),
        (
            {"body": DESTINATION + "reduce_columns(s, r);"},
            "reductions need the destination that the same matmul2d gives for them",
        ),
        (
            {"body": DESTINATION + "reduce_rows(s, r);", "scope": "execution_simdgroups<4>"},
            "reductions work within a SIMD-group",
        ),
        (
            {
                "body": DESTINATION
                + "product.get_left_input_cooperative_tensor<half, half, float>(s);"
            },
            "the threads hold other elements of this cooperative tensor than the product takes",
        ),
        ({"body": DESTINATION + "r.load(c);"}, "load takes a tensor of the same rank"),
    ],
)
def test_rules_are_errors_of_the_users_line(device, changes, expected):
    message = message_of(device, source(**changes))
    first = message.splitlines()[0]
    assert first.startswith(f"program_source:{LINE}:"), message
    assert ": error: " in first, message
    assert expected in first, message
    assert "__msl" not in message
    assert "requirement" not in message


@pytest.mark.parametrize(
    ("scope", "expected"),
    [
        ("execution_threads<2>", "execution_threads is a single thread"),
        ("execution_simdgroups<0>", "execution_simdgroups takes the number of SIMD-groups, from 1"),
    ],
)
def test_scopes_that_do_not_exist_are_errors(device, scope, expected):
    message = message_of(device, source(scope=scope))
    assert message.startswith("program_source:")
    assert expected in message.splitlines()[0]


def test_open_extents_are_named_in_messages(device):
    message = message_of(device, source(body="int wrong = a;"))
    assert "extents<int, dynamic_extent, dynamic_extent>" in message


@pytest.mark.parametrize(
    ("device", "version"),
    [({"tensor_api": False}, None), ({"tensor_api": False}, "3.0"), ({}, "3.2")],
    indirect=["device"],
)
def test_without_the_tensor_api_its_header_is_missing(device, version):
    message = message_of(device, source(), language_version=version)
    first = "program_source:2:10: fatal error: 'metal_tensor' file not found"
    assert message.splitlines()[:2] == [first, "#include <metal_tensor>"]
    text = source().replace("#include <metal_tensor>\n", "")
    message = message_of(device, text, language_version=version)
    header = "MetalPerformancePrimitives/MetalPerformancePrimitives.h"
    assert message.startswith(f"program_source:2:10: fatal error: '{header}' file not found")


@pytest.fixture
def device(request):
    return fm.Device(threads=1, **getattr(request, "param", {}))


def test_names_are_the_kernels_own_where_it_does_not_include_them(device):
    text = """#include <metal_stdlib>
using namespace metal;
struct tensor { int extents, slice; };
kernel void plain(device int *out [[buffer(0)]]) {
    const int requires = 2, concept = 3;
    tensor tensor = {1, requires + concept};
    *out = tensor.slice;
}
"""
    registry = fm.KernelRegistry(device)
    options = fm.CompileOptions(language_version="4.0")
    registry.register_source("plain", text, options=options)
    out = device.alloc(1, "i32")
    with device.encoder() as encoder:
        encoder.dispatch(registry.get_pipeline("plain"), {0: out}, 1, 1)
    assert np.asarray(out)[0] == 5


def test_the_first_header_alone_declares_tensors_only(device):
    text = HEADERS.replace(
        "#include <MetalPerformancePrimitives/MetalPerformancePrimitives.h>\n", ""
    ).replace("using namespace mpp::tensor_ops;\n", "")
    kernel = """kernel void broken(device float *data [[buffer(0)]]) {
    auto whole = tensor(data, dextents<int, 2>(2, 2));
    whole[array<int, 2>{1, 1}] = 3;
"""
    registry = fm.KernelRegistry(device)
    registry.register_source("broken", text + kernel + "}\n")
    data = device.alloc(4, "f32")
    with device.encoder() as encoder:
        encoder.dispatch(registry.get_pipeline("broken"), {0: data}, 1, 1)
    assert np.asarray(data).tolist() == [0, 0, 0, 3]
    message = message_of(
        device, text + kernel + "    mpp::tensor_ops::matmul2d<1, 2> product;\n}\n"
    )
    assert "use of undeclared identifier 'mpp'" in message


def fault_of(device, threads, **changes):
    registry = fm.KernelRegistry(device)
    registry.register_source("broken", source(**changes))
    buffers = [device.alloc(64 * 64, dtype) for dtype in ("f16", "f16", "f32")]
    with (
        pytest.raises(fm.errors.CommandBufferError) as caught,
        device.encoder() as encoder,
    ):
        encoder.dispatch(
            registry.get_pipeline("broken"), dict(enumerate(buffers)), 1, (threads, 1, 1)
        )
    return str(caught.value)


@pytest.mark.parametrize("threads", [32, 64, 100, 256])
def test_simdgroups_of_a_scope_are_those_of_the_threadgroup(device, threads):
    message = fault_of(device, threads, scope="execution_simdgroups<4>")
    assert f"at line {LINE}: execution_simdgroups<N> is for threadgroups of N whole" in message


@pytest.mark.parametrize(
    ("threads", "body"),
    [
        (40, DEFAULTS["body"]),
        (32, "if (simd_is_first()) " + DEFAULTS["body"]),
        (32, "if (!simd_is_first()) { " + DESTINATION + " reduce_rows(s, r); }"),
    ],
)
def test_a_simdgroup_multiplies_with_all_its_threads(device, threads, body):
    message = fault_of(device, threads, body=body)
    assert f"at line {LINE}: execution_simdgroup takes all 32 threads of a SIMD-group" in message


def test_products_of_different_places_do_not_meet(device):
    body = "if (simd_is_first()) product.run(a, b, c); else product.run(b, a, c);"
    message = fault_of(device, 128, scope="execution_simdgroups<4>", body=body)
    assert "divergent" in message


def test_a_tensor_that_is_larger_than_its_buffer_is_a_fault(device):
    body = "auto d = tensor(left + 8192, dextents<int, 2>(64, 64)); product.run(d, b, c);"
    message = fault_of(device, 32, body=body)
    assert "touched memory that is not there" in message


def test_scratch_memory_is_not_the_kernels(device):
    registry = fm.KernelRegistry(device)
    registry.register_source("broken", source())
    assert registry.get_pipeline("broken").static_threadgroup_memory == 0
