"""Roots and reciprocals where they are infinite or zero, which attention kernels lean on."""

import numpy as np
import pytest

import flashmetal as fm

# What a kernel computes from x, and the same in NumPy.
EXPRESSIONS = {
    "rsqrt(x)": lambda x: 1 / np.sqrt(x),
    "metal::precise::rsqrt(x)": lambda x: 1 / np.sqrt(x),
    "TYPE(1) / sqrt(x)": lambda x: 1 / np.sqrt(x),
    "TYPE(1) / x": lambda x: 1 / x,
    "sqrt(x)": np.sqrt,
}
TEXT = """
#include <metal_stdlib>
using namespace metal;
kernel void evaluate(device const TYPE *in [[buffer(0)]], device TYPE *out [[buffer(1)]],
                     uint i [[thread_position_in_grid]], uint count [[threads_per_grid]]) {
    const TYPE x = in[i];
    STATEMENTS
}
"""
SPECIAL = [0.0, np.inf, -np.inf, np.nan, -1.0, 4.0, 3e38, 1e-38, 1e-42, 2.0]
TYPES = {"float": np.float32, "float4": np.float32, "half": np.float16}


def evaluate(expressions, kind, mode, values):
    """Give a row of results for each expression."""
    statements = (f"out[i + {row} * count] = {text};" for row, text in enumerate(expressions))
    text = TEXT.replace("STATEMENTS", "\n    ".join(statements)).replace("TYPE", kind)
    device = fm.Device(engine="simt")
    registry = fm.KernelRegistry(device)
    registry.register_source("evaluate", text, options=fm.CompileOptions(math_mode=mode))
    out = device.alloc((len(expressions), len(values)), values.dtype)
    threads = len(values) // (4 if kind == "float4" else 1)
    with device.encoder() as encoder:
        pipeline = registry.get_pipeline("evaluate")
        encoder.dispatch_threads(pipeline, {0: device.wrap(values), 1: out}, threads, 32)
    return np.array(out)


@pytest.mark.parametrize("mode", ["relaxed", "safe"])
@pytest.mark.parametrize("kind", TYPES)
def test_infinite_and_zero(mode, kind):
    # precise:: is for float.
    expressions = [text for text in EXPRESSIONS if kind != "half" or "precise" not in text]
    with np.errstate(all="ignore"):
        values = np.tile(np.array(SPECIAL, TYPES[kind]), 8)
        exact = values.astype(np.float64)
        expected = [EXPRESSIONS[text](exact).astype(values.dtype) for text in expressions]
    found = evaluate(expressions, kind, mode, values)
    for text, row, reference in zip(expressions, found, expected, strict=True):
        np.testing.assert_allclose(row, reference, rtol=2e-3, err_msg=text)
