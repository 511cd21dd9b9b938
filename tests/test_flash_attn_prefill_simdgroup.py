"""Contracts of simdgroup prefill that are its own: names, constants, which head_dims, the probe."""

import pytest
from prefill_arguments import buffers_of, params_of, refuse
from prefill_families import SIMDGROUP

import flashmetal as fm
from flashmetal import _host, resources
from flashmetal.ops.flash_attn_prefill_simdgroup import (
    CACHE_ROWS_PER_STEP,
    KERNELS,
    dispatch_flash_attn_prefill_simdgroup_f16,
    flash_attn_prefill_simdgroup_available,
    kernel_name,
    kv_pad,
    queries_per_threadgroup,
    register,
    supports_head_dim,
    threadgroup_memory_bytes,
)
from flashmetal.ops.flash_attn_prefill_tensor import threadgroup_memory_bytes as of_tensor

NAME = "flash_attn_prefill_simdgroup_f16"
SPECIALISED = (64, 80, 96, 128, 256)
SERVED = range(4, 257, 4)
SOURCE = resources.shader("flash_attn_prefill_simdgroup").read_text(encoding="utf-8")


@pytest.fixture
def registry(prefill_runners):
    return prefill_runners[SIMDGROUP][0].registry


@pytest.fixture
def device(registry):
    return registry.device


# ---- names and constants -------------------------------------------------------------------------


def test_five_head_dims_have_kernels_of_their_own():
    assert (NAME, *(f"{NAME}_d{head_dim}" for head_dim in SPECIALISED)) == KERNELS
    for head_dim in SERVED:
        own = f"{NAME}_d{head_dim}" if head_dim in SPECIALISED else NAME
        assert kernel_name(head_dim) == own


def test_tiles_are_32_queries_by_64_keys():
    assert CACHE_ROWS_PER_STEP == 64
    assert {queries_per_threadgroup(head_dim) for head_dim in SERVED} == {32}
    assert (kv_pad(1), kv_pad(64), kv_pad(1281)) == (64, 64, 1344)


def test_threadgroup_memory_fits_every_gpu():
    assert max(map(threadgroup_memory_bytes, SERVED)) <= 32768
    assert {
        head_dim: threadgroup_memory_bytes(head_dim) for head_dim in (4, 64, 128, 252, 256)
    } == {4: 14992, 64: 16528, 128: 20624, 252: 30864, 256: 28816}
    assert threadgroup_memory_bytes(256) == of_tensor(256)


@pytest.mark.parametrize("head_dim", [0, 1, 2, 6, 63, 129, 254, 257, 260, 512, 2**32 - 1])
def test_other_head_dims_are_refused_everywhere(device, registry, head_dim):
    text = f"unsupported head_dim {head_dim} (a multiple of 4 up to 256)"
    assert not supports_head_dim(head_dim)
    params = params_of(SIMDGROUP, head_dim=head_dim)
    assert refuse(SIMDGROUP, registry, params, buffers_of(device)) == text
    for function in (
        kernel_name,
        queries_per_threadgroup,
        threadgroup_memory_bytes,
        lambda width: flash_attn_prefill_simdgroup_available(registry, device, width),
    ):
        with pytest.raises(fm.errors.InvalidArgument) as caught:
            function(head_dim)
        assert str(caught.value) == f"Invalid argument: flash_attn_prefill_simdgroup: {text}"


def test_register_registers_all_kernels(device):
    registry = fm.KernelRegistry(device)
    register(registry)
    register(registry)
    assert registry.source_count == 6


def test_kernels_that_are_not_registered_are_not_found(device):
    encoder, empty = device.encoder(), fm.KernelRegistry(device)
    with pytest.raises(fm.errors.KernelNotFound, match=f"Kernel not found: {NAME}_d256"):
        dispatch_flash_attn_prefill_simdgroup_f16(
            encoder, empty, *buffers_of(device).values(), params_of(SIMDGROUP)
        )
    assert encoder.command_buffer_count == 0


def test_the_general_kernel_writes_nothing_at_a_head_dim_beyond_its_own(device, registry, host):
    """A head_dim above 256 in the words, as no checked dispatch packs them."""
    buffers = buffers_of(device)
    words = params_of(SIMDGROUP, head_dim=260).pack()
    with device.encoder() as encoder:
        encoder.dispatch(
            registry.get_pipeline(NAME),
            {0: words, **dict(enumerate(buffers.values(), 1))},
            (1, 1),
            (32, 8),
            {0: threadgroup_memory_bytes(256)},
        )
    assert not buffers["out"].numpy().any()


# ---- the probe -----------------------------------------------------------------------------------


@pytest.mark.parametrize("head_dim", [4, 64, 100, 256])
def test_available_with_and_without_the_tensor_api(head_dim, host):
    before = host.compile_count()
    for device in (fm.Device(), fm.Device(tensor_api=False)):
        registry = fm.KernelRegistry(device)
        register(registry)
        assert flash_attn_prefill_simdgroup_available(registry, device, head_dim)
    assert host.compile_count() == before  # the shipped library served


def test_a_missing_header_is_a_verdict_that_is_remembered(device):
    registry = fm.KernelRegistry(device)
    # As an older system's compiler says it.
    text = "#error \"fatal error: 'metal_simdgroup_matrix' file not found\"\n"
    registry.register_source(NAME, text)
    for _ in range(2):
        assert not flash_attn_prefill_simdgroup_available(registry, device, 4)


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("simdgroup_multiply_accumulate(", "simdgroup_multiply_accumulated("),
        ("#include <metal_simdgroup_matrix>", "#include <metal_simdgroup_matrices>"),
    ],
)
def test_a_broken_shader_is_an_error_that_is_not_remembered(device, before, after):
    assert before in SOURCE
    registry = fm.KernelRegistry(device)
    registry.register_source(NAME, SOURCE.replace(before, after))
    for _ in range(2):
        with pytest.raises(fm.errors.ShaderCompilationError):
            flash_attn_prefill_simdgroup_available(registry, device, 4)
    register(registry)
    assert flash_attn_prefill_simdgroup_available(registry, device, 4)


def test_the_text_is_compiled_as_it_is_shipped(device):
    before = _host.compile_count()
    registry = fm.KernelRegistry(device)
    registry.register_source(NAME, SOURCE, options=fm.CompileOptions(macros={"UNSEEN": 1}))
    registry.get_pipeline(NAME)
    # The text is checked, then the kernel is built: neither comes from a shipped library.
    assert _host.compile_count() == before + 2
