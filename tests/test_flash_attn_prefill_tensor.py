"""Contracts of tensor prefill that are its own: names, constants, the probe."""

import numpy as np
import pytest
from prefill_arguments import buffers_of, params_of, refuse
from prefill_families import TENSOR

import flashmetal as fm
from flashmetal import _host, resources
from flashmetal.errors import InvalidArgument, InvalidType
from flashmetal.ops.flash_attn_prefill_tensor import (
    CACHE_ROWS_PER_STEP,
    K_TENSOR_F16_D256,
    K_TENSOR_F16_D512,
    dispatch_flash_attn_prefill_tensor_f16,
    flash_attn_prefill_tensor_available,
    kv_pad,
    queries_per_threadgroup,
    register,
    threadgroup_memory_bytes,
)

KERNELS = {256: K_TENSOR_F16_D256, 512: K_TENSOR_F16_D512}
PREFIX = "Invalid argument: flash_attn_prefill_tensor: "


@pytest.fixture(scope="module")
def registry(device):
    registry = fm.KernelRegistry(device)
    register(registry)
    registry.prewarm(KERNELS.values())
    return registry


# ---- names and constants -------------------------------------------------------------------------


def test_constants_are_those_of_the_kernels():
    assert CACHE_ROWS_PER_STEP == 64
    assert {width: queries_per_threadgroup(width) for width in KERNELS} == {256: 32, 512: 16}
    assert {width: threadgroup_memory_bytes(width) for width in KERNELS} == {256: 28816, 512: 22608}


@pytest.mark.parametrize(
    ("kv_len", "padded"),
    [(0, 0), (1, 64), (63, 64), (64, 64), (65, 128), (1281, 1344), (2**32 - 1, 2**32),
     (2**32 - 64, 2**32 - 64), (2**32 - 63, 2**32)],
)  # fmt: skip
def test_kv_pad_rounds_up_to_64_without_a_limit(kv_len, padded):
    assert kv_pad(kv_len) == padded


@pytest.mark.parametrize("head_dim", [0, 64, 80, 128, 192, 255, 257, 320, 576, 2**32 - 1])
def test_other_head_dims_are_refused_everywhere(device, registry, head_dim):
    text = f"unsupported head_dim {head_dim} (256 or 512)"
    params = params_of(TENSOR, head_dim=head_dim)
    assert refuse(TENSOR, registry, params, buffers_of(device)) == text
    for function in (
        queries_per_threadgroup,
        threadgroup_memory_bytes,
        lambda width: flash_attn_prefill_tensor_available(registry, device, width),
    ):
        with pytest.raises(fm.errors.InvalidArgument) as caught:
            function(head_dim)
        assert str(caught.value) == PREFIX + text


def test_register_registers_both_kernels(device):
    registry = fm.KernelRegistry(device)
    register(registry)
    register(registry)
    assert registry.source_count == 2


def test_kernels_that_are_not_registered_are_not_found(device):
    encoder, empty = device.encoder(), fm.KernelRegistry(device)
    with pytest.raises(fm.errors.KernelNotFound, match=f"Kernel not found: {K_TENSOR_F16_D256}"):
        dispatch_flash_attn_prefill_tensor_f16(
            encoder, empty, *buffers_of(device).values(), params_of(TENSOR)
        )
    assert encoder.command_buffer_count == 0


# ---- the probe -----------------------------------------------------------------------------------

SOURCE = resources.shader("flash_attn_prefill_tensor").read_text(encoding="utf-8")
TENSOR_OPTIONS = fm.CompileOptions(language_version="4.0")


@pytest.fixture
def without_api():
    device = fm.Device(tensor_api=False)
    registry = fm.KernelRegistry(device)
    register(registry)
    return registry


def available(registry, head_dim=256):
    return flash_attn_prefill_tensor_available(registry, registry.device, head_dim)


@pytest.mark.parametrize("head_dim", KERNELS)
def test_available_where_the_tensor_api_is(registry, head_dim):
    assert available(registry, head_dim)
    assert available(registry, head_dim)
    assert registry.is_cached(KERNELS[head_dim])


@pytest.mark.parametrize("head_dim", KERNELS)
def test_a_missing_header_is_a_verdict_that_is_remembered(without_api, head_dim, host):
    before = host.compile_count()
    assert not available(without_api, head_dim)
    assert host.compile_count() > before  # by a real compile, not for want of an artefact
    after = host.compile_count()
    assert not available(without_api, head_dim)
    assert host.compile_count() == after


def test_without_the_api_a_dispatch_says_what_is_missing(without_api):
    encoder = without_api.device.encoder()
    with pytest.raises(fm.errors.ShaderCompilationError) as caught:
        dispatch_flash_attn_prefill_tensor_f16(
            encoder, without_api, *buffers_of(without_api.device).values(), params_of(TENSOR)
        )
    assert "fatal error: 'metal_tensor' file not found" in caught.value.message
    assert encoder.command_buffer_count == 0


def test_kernels_that_are_not_registered_are_no_verdict(device):
    with pytest.raises(fm.errors.KernelNotFound):
        available(fm.KernelRegistry(device))


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("score_product.run(query, keys, scores);", "score_product.ran(query, keys, scores);"),
        ("#include <metal_tensor>", "#include <metal_tensors>"),
        ("mpp::tensor_ops", "mpp::tensor_operations"),
        ("threadgroup_barrier(", "undeclared_barrier("),
    ],
)
def test_a_broken_shader_is_an_error_that_is_not_remembered(device, before, after):
    assert before in SOURCE
    registry = fm.KernelRegistry(device)
    broken = SOURCE.replace(before, after)
    registry.register_source(K_TENSOR_F16_D256, broken, options=TENSOR_OPTIONS)
    for _ in range(2):
        with pytest.raises(fm.errors.ShaderCompilationError):
            available(registry)
    register(registry)
    assert available(registry)


def test_a_fault_of_the_compiler_is_not_remembered(device, host):
    registry = fm.KernelRegistry(device)
    register(registry)
    host.set_faults("pipeline:count=1")
    with pytest.raises(fm.errors.ShaderCompilationError):
        available(registry)
    assert available(registry)


def test_an_older_language_lacks_the_header(device):
    registry = fm.KernelRegistry(device)
    older = fm.CompileOptions(language_version="3.2")
    registry.register_source(K_TENSOR_F16_D256, SOURCE, options=older)
    assert not available(registry)
    assert not available(registry)
    # Other options are another registration, which forgets the verdict.
    register(registry)
    assert available(registry)


def test_with_the_api_the_shipped_library_serves(device):
    registry = fm.KernelRegistry(device)
    register(registry)
    before = _host.compile_count()
    assert available(registry, 256)
    assert available(registry, 512)
    assert _host.compile_count() == before


def test_the_text_is_compiled_as_it_is_shipped(device):
    registry = fm.KernelRegistry(device)
    options = fm.CompileOptions(language_version="4.0", macros={"UNSEEN": 1})
    registry.register_source(K_TENSOR_F16_D512, SOURCE, options=options)
    assert available(registry, 512)


@pytest.mark.parametrize(
    ("kv_len", "error"),
    [(-1, InvalidArgument), (1.5, InvalidType), ("1", InvalidType), (np.arange(2), InvalidType)],
)
def test_padding_is_of_integers_from_0_on(kv_len, error):
    with pytest.raises(InvalidArgument, match="kv_pad: kv_len must") as caught:
        kv_pad(kv_len)
    assert type(caught.value) is error
    assert kv_pad(np.int64(65)) == 128
