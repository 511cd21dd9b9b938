"""The shipped shaders under the checks of memory: nothing is found, and each missing barrier is."""

import re
from unittest import mock

import pytest
from decode_runner import DecodeRunner
from prefill_families import SIMDGROUP, TENSOR
from prefill_runner import PrefillRunner

import flashmetal as fm
from flashmetal import resources
from flashmetal.errors import CommandBufferError
from flashmetal.ops import flash_attention
from flashmetal.ops import flash_attn_prefill_blk as blk
from flashmetal.prefill_problems import PrefillShape, make_prefill_problem
from flashmetal.problems import DecodeShape, make_problem

pytestmark = [
    pytest.mark.skipif(not fm._host.available(), reason="checks are host Metal's"),
    pytest.mark.keeps_objects,
]

BARRIER = re.compile(r"(?:threadgroup|simdgroup)_barrier\([^)]*\);")


class Decode(DecodeRunner):
    """Compiles what is run, and nothing ahead."""

    def __init__(self, device):
        self.device = device
        self.registry = fm.KernelRegistry(device)
        flash_attention.register(self.registry)


class Prefill(PrefillRunner):
    """Likewise."""

    def __init__(self, device, family):
        self.device = device
        self.family = family
        self.registry = fm.KernelRegistry(device)
        family.op.register(self.registry)
        blk.register(self.registry)


def decode(device, head_dim):
    # The last of its tiles is ragged.
    return Decode(device).accuracy(make_problem(DecodeShape(4, 2, head_dim, 600), "rising"))


def prefill(family):
    def run(device, head_dim):
        # The last step's scores are the highest, so that it scales what came before.
        shape = PrefillShape(17, 2, 1, head_dim, 100)
        return Prefill(device, family).accuracy(make_prefill_problem(shape, "rising", "causal"))

    return run


# What runs a shader, over which sizes of head: each has barriers that the others have not.
RUNS = {
    "flash_attention": (decode, (36, 64)),
    "flash_attn_prefill_tensor": (prefill(TENSOR), (256, 512)),
    "flash_attn_prefill_simdgroup": (prefill(SIMDGROUP), (36, 128)),
}


@pytest.mark.parametrize("checks", [True, "strict"])
@pytest.mark.parametrize("shader", RUNS)
def test_nothing_is_found(shader, checks):
    run, head_dims = RUNS[shader]
    device = fm.Device(engine="simt", checks=checks)
    for head_dim in head_dims:
        assert run(device, head_dim).within_bound


def is_found(shader, text, device):
    """Whether a run of the shader with another text ends with a finding."""
    run, head_dims = RUNS[shader]
    original = resources.shader
    changed = mock.Mock(wraps=original(shader), **{"read_text.return_value": text})
    of_name = {shader: changed}
    with mock.patch.object(resources, "shader", lambda name: of_name.get(name) or original(name)):
        try:
            for head_dim in head_dims:
                run(device, head_dim)
        except CommandBufferError as error:
            return error.kind == "internal"
    return False


def barriers():
    """Every barrier of the shaders: the shader, its line, and the text without it."""
    for shader in RUNS:
        text = resources.shader(shader).read_text(encoding="utf-8")
        for found in BARRIER.finditer(text):
            line = text.count("\n", 0, found.start()) + 1
            without = text[: found.start()] + ";" + text[found.end() :]
            yield pytest.param(shader, without, id=f"{shader}-{line}")


@pytest.mark.parametrize(("shader", "text"), list(barriers()))
@pytest.mark.slow
def test_each_missing_barrier_is_found(shader, text):
    # Lanes need simdgroup_barrier only where nobody takes them to run in lockstep.
    assert is_found(shader, text, fm.Device(engine="simt", checks="strict"))
