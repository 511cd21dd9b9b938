"""Tests a Metal kernel against NumPy, in every order of its threads that host Metal offers.

And once with its memory checked: bounds, races and threadgroup memory read before it is written.
"""

import pathlib

import numpy as np
import pytest

import flashmetal as fm

SOURCE = pathlib.Path(__file__).with_name("row_softmax.metal").read_text()
IS_HOST = fm.Device().is_host  # Apple's GPUs choose their own order, and check nothing
MODES = {
    "checked": {"engine": "simt", "checks": True},
    **{order: {"order": order} for order in ("highest", "lowest", "random")},
}


@pytest.fixture(params=MODES if IS_HOST else [None])
def device(request):
    return fm.Device(**MODES.get(request.param, {}))


@pytest.mark.parametrize("columns", [1, 31, 128, 1000])
@pytest.mark.parametrize("threads", [32, 128, 1024])
def test_row_softmax(device, columns, threads):
    registry = fm.KernelRegistry(device)
    registry.register_source("row_softmax", SOURCE)
    pipeline = registry.get_pipeline("row_softmax", {0: columns})

    x = np.random.default_rng(0).standard_normal((5, columns)).astype(np.float32)
    y = device.alloc(x.shape, "f32")
    with device.encoder() as encoder:  # commits and waits on leaving
        encoder.dispatch(pipeline, {0: device.wrap(x), 1: y}, len(x), threads)

    weights = np.exp(x - x.max(axis=1, keepdims=True), dtype=np.float64)
    expected = weights / weights.sum(axis=1, keepdims=True)
    np.testing.assert_allclose(np.asarray(y), expected, rtol=1e-5)
