"""Another shader with the entry points, struct and bindings of decode attention takes its place."""

import pathlib

import numpy as np
import pytest

import flashmetal as fm
from flashmetal.ops import flash_attention
from flashmetal.problems import DecodeShape, make_problem
from flashmetal.reference import compare, decode_reference

SOURCE = (pathlib.Path(__file__).parent / "third_party_attention.metal").read_text("utf-8")
NAMES = ("flash_attention", "flash_attention_hd64", "flash_attention_hd128")
MARK = 0.25  # what the shader adds to each output when MARKED is defined


@pytest.fixture
def registry(device):
    return fm.KernelRegistry(device)


def attend(registry, problem):
    device = registry.device
    arrays = (problem.q, problem.k, problem.v, np.full_like(problem.q, np.nan))
    buffers = [device.alloc(array.shape, array.dtype) for array in arrays]
    for buffer, array in zip(buffers, arrays, strict=True):
        np.asarray(buffer)[...] = array
    params = flash_attention.FlashAttentionParams(**problem.shape._asdict())
    with device.encoder() as encoder:
        flash_attention.encode_attention(encoder, registry, *buffers, params)
    return np.array(buffers[3])


@pytest.mark.parametrize("seq_len", [1, 33, 300])
@pytest.mark.parametrize("head_dim", [36, 64, 128])
def test_same_names_run_another_shader(registry, head_dim, seq_len):
    for name in NAMES:
        registry.register_source(name, SOURCE)
    problem = make_problem(DecodeShape(4, 2, head_dim, seq_len))
    accuracy = compare(attend(registry, problem), decode_reference(problem.q, problem.k, problem.v))
    assert accuracy.within_bound, accuracy


def test_it_replaces_the_shipped_shader_and_gives_way_to_it(registry):
    problem = make_problem(DecodeShape(4, 2, 64, 40))
    flash_attention.register(registry)
    shipped = attend(registry, problem)
    marked = fm.CompileOptions(macros={"MARKED": 1})
    for name in NAMES:
        registry.register_source(name, SOURCE, options=marked)
    assert np.allclose(attend(registry, problem), shipped + MARK, atol=1e-5)
    flash_attention.register(registry)
    assert np.array_equal(attend(registry, problem), shipped)


def test_one_name_may_be_replaced_alone(registry):
    flash_attention.register(registry)
    wide, narrow = (make_problem(DecodeShape(4, 2, head_dim, 40)) for head_dim in (128, 64))
    shipped = attend(registry, wide), attend(registry, narrow)
    marked = fm.CompileOptions(macros={"MARKED": 1})
    registry.register_source("flash_attention_hd128", SOURCE, options=marked)
    assert np.allclose(attend(registry, wide), shipped[0] + MARK, atol=1e-5)
    assert np.array_equal(attend(registry, narrow), shipped[1])
