"""Sources that do not compile: whose fault it is, where, and that nothing is the worse for it."""

import os
import subprocess
import sys

import numpy as np
import pytest
from small_kernels import ADD, HEADER

import flashmetal as fm
from flashmetal.ops import flash_attention


@pytest.fixture
def registry(device):
    return fm.KernelRegistry(device)


def compilation_error(registry, name, source=None, **arguments):
    if source is not None:
        registry.register_source(name, source)
    with pytest.raises(fm.errors.ShaderCompilationError) as caught:
        registry.get_pipeline(name, **arguments)
    assert caught.value.name == name
    assert str(caught.value) == f"Shader compilation error for '{name}': {caught.value.message}"
    assert registry.cached_count == 0
    return caught.value.message


def test_error_gives_the_users_line_and_column(registry):
    source = (
        HEADER + "\nkernel void broken(device int *out [[buffer(0)]]) {\n    *out = nothing;\n}\n"
    )
    message = compilation_error(registry, "broken", source)
    assert "program_source:5:12: error: use of undeclared identifier 'nothing'" in message


@pytest.mark.parametrize(
    ("source", "lacking"),
    [
        ("kernel void k(texture2d<float> t [[texture(0)]]) {}", "textures"),
        (
            "#include <metal_raytracing>\nkernel void k() { raytracing::intersector<> finds; }",
            "ray tracing",
        ),
        ("fragment float4 k() { return 0; }", "render stages"),
        (
            "#include <metal_raytracing>\nkernel void k() { metal::raytracing::ray r; }",
            "ray tracing",
        ),
        ("kernel void k(depth2d_ms<float> t [[texture(0)]]) {}", "textures"),
        ("struct S { compute_pipeline_state p; };\nkernel void k() {}", "indirect command buffers"),
    ],
)
def test_what_the_host_device_lacks_is_named(host, registry, source, lacking):
    registry.register_source("k", f"{HEADER}\n{source}\n")
    with pytest.raises(fm.errors.UnsupportedFeature, match=f"does not support {lacking}"):
        registry.get_pipeline("k")


def test_vectors_have_the_users_names(host, registry):
    body = "float4 v = out[0]; out[1] = float(v * 2.0f); out[2] = float(v < v);"
    source = HEADER + f"kernel void broken(device float *out [[buffer(0)]]) {{ {body} }}\n"
    message = compilation_error(registry, "broken", source)
    assert "'float4'" in message
    assert "'bool4'" in message
    assert "aka" not in message


def test_pointer_to_another_address_space(host, registry):
    source = "kernel void k(device int *x) {\n    threadgroup int *y = x;\n}\n"
    message = compilation_error(registry, "k", source)
    assert "program_source:2:26: error: 'x' points to the address space 'device'" in message


def test_argument_without_an_address_space(host, registry):
    message = compilation_error(registry, "k", "kernel void k(\n    float *x) {\n}\n")
    assert "program_source:2:12: error: 'x' needs an address space" in message
    assert "write 'device float *x'" in message


def test_two_kernels_of_one_name(host, registry):
    message = compilation_error(registry, "k", "kernel void k() {}\nkernel void k() {}\n")
    assert "program_source:2:13: error: redefinition of kernel 'k'" in message
    assert "program_source:1:13: note: previous definition is here" in message


def test_misspelt_attribute(host, registry):
    message = compilation_error(registry, "k", "kernel void k(device int *x [[bufer(0)]]) {}\n")
    assert "program_source:1:31: error: unknown attribute 'bufer'; did you mean" in message


@pytest.mark.parametrize(
    "parameter",
    [
        "tensor<device half, dextents<int, 2>> a",
        "tensor<device float4, dextents<int, 2>, tensor_handle> a",
        "constant tensor<device half, dextents<int, 2>> &a",
    ],
)
def test_tensor_of_the_hosts_is_named(host, registry, parameter):
    registry.register_source(
        "k",
        "#include <metal_tensor>\nusing namespace metal;\n"
        f"kernel void k({parameter} [[buffer(0)]]) {{}}\n",
    )
    with pytest.raises(fm.errors.UnsupportedFeature, match="'a' is a tensor of the host's"):
        registry.get_pipeline("k")


def test_missing_header_is_a_fatal_error(registry):
    message = compilation_error(registry, "add", HEADER + '#include "nowhere.h"\n' + ADD)
    assert "program_source:3:10: fatal error: 'nowhere.h' file not found" in message


def test_source_without_the_kernel_is_an_error_of_that_name(registry):
    message = compilation_error(registry, "subtract", ADD)
    assert "subtract" in message


def test_each_name_of_a_broken_text_is_named(registry):
    for name in ("ones", "twos"):
        compilation_error(registry, name, "kernel void broken(\n")


@pytest.mark.parametrize("site", ["library", "function", "pipeline"])
def test_metals_refusal_is_passed_on_and_not_remembered(registry, host, site):
    registry.register_source("add", ADD)
    host.set_faults(site)
    compilation_error(registry, "add")
    assert registry.get_pipeline("add").name == "add"


def test_failure_is_not_remembered(registry):
    compilation_error(registry, "add", ADD.replace("delta;", "delta"))
    compilation_error(registry, "add")
    registry.register_source("add", ADD)
    pipeline = registry.get_pipeline("add")
    words = registry.device.alloc(4, "u32")
    with registry.device.encoder() as encoder:
        encoder.dispatch(pipeline, {0: words, 1: words, 2: (3).to_bytes(4, "little")}, 1, 4)
    assert np.asarray(words).tolist() == [3] * 4


def test_failure_leaves_other_kernels_alone(registry):
    flash_attention.register(registry)
    registry.prewarm(["flash_attention"])
    registry.register_source("broken", "broken")
    with pytest.raises(fm.errors.ShaderCompilationError):
        registry.get_pipeline("broken")
    assert registry.is_cached("flash_attention")


WITHOUT_COMPILER = """
import numpy as np
import flashmetal as fm
from small_kernels import ADD

registry = fm.KernelRegistry(fm.Device())
registry.register_source("add", ADD)
try:
    registry.get_pipeline("add")
except fm.errors.ShaderCompilationError as error:
    print(error.message)

q = np.ones((2, 64), np.float32)
kv = np.ones((3, 1, 64), np.float16)
assert np.allclose(fm.attention(q, kv, kv), 1)
"""


def test_without_a_compiler_shipped_kernels_run_and_others_say_how_to_get_one(tmp_path):
    environment = {
        **os.environ,
        "FLASHMETAL_CLANG": str(tmp_path / "nowhere"),
        "FLASHMETAL_CACHE_DIR": str(tmp_path / "cache"),
        "PYTHONPATH": os.path.dirname(__file__),
    }
    done = subprocess.run(
        [sys.executable, "-c", WITHOUT_COMPILER],
        env=environment,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert "clang" in done.stdout
    assert "install" in done.stdout
