"""Kernels whose lanes count on lockstep: what the order of lanes, or a barrier, makes of them."""

import numpy as np
import pytest

import flashmetal as fm
from flashmetal.errors import CommandBufferError

SIZE = 40
ORDERS = ("highest", "lowest", "random")

# Forward substitution, by one SIMD-group: lane 0 writes an unknown that all lanes read next.
SUBSTITUTION = """
#include <metal_stdlib>
using namespace metal;
template <bool ordered>
kernel void solve(device const float *matrix [[buffer(0)]], device const float *right [[buffer(1)]],
                  device float *x [[buffer(2)]], constant uint &size [[buffer(3)]],
                  uint lane [[thread_index_in_simdgroup]]) {
    for (uint row = 0; row < size; row++) {
        float sum = 0;
        for (uint column = lane; column < row; column += 32)
            sum += matrix[row * size + column] * x[column];
        sum = simd_sum(sum);
        if (lane == 0) x[row] = (right[row] - sum) / matrix[row * size + row];
        if (ordered) simdgroup_barrier(mem_flags::mem_device);
    }
}
template [[host_name("in_lockstep")]] kernel void solve<false>(
    device const float *, device const float *, device float *, constant uint &, uint);
template [[host_name("ordered")]] kernel void solve<true>(
    device const float *, device const float *, device float *, constant uint &, uint);
"""


def system():
    numbers = np.random.default_rng(3).standard_normal((SIZE, SIZE + 1)) / SIZE
    matrix = np.tril(numbers[:, :SIZE]) + np.eye(SIZE)
    return matrix.astype(np.float32), (1 + numbers[:, SIZE]).astype(np.float32)


def solve(name, **settings):
    device = fm.Device(engine="simt", **settings)
    registry = fm.KernelRegistry(device)
    registry.register_source(name, SUBSTITUTION)
    x = device.alloc(SIZE, np.float32)
    np.asarray(x)[:] = 0
    matrix, right = (device.wrap(array) for array in system())
    size = np.uint32(SIZE).tobytes()
    with device.encoder() as encoder:
        encoder.dispatch(registry.get_pipeline(name), {0: matrix, 1: right, 2: x, 3: size}, 1, 32)
    return np.array(x)


def assert_solved(x):
    matrix, right = (array.astype(np.float64) for array in system())
    np.testing.assert_allclose(x, np.linalg.solve(matrix, right), rtol=0, atol=1e-5)


def test_what_lane_0_writes_is_there_for_the_others_in_the_lowest_order():
    assert_solved(solve("in_lockstep", order="lowest"))


def test_simdgroup_barrier_makes_it_right_in_each_order():
    for order in ORDERS:
        assert_solved(solve("ordered", order=order))
    assert_solved(solve("ordered", checks="strict"))


def test_strict_checks_find_it():
    with pytest.raises(CommandBufferError, match=r"race: .*buffer\(2\)"):
        solve("in_lockstep", checks="strict")
