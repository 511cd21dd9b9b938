"""Kernels that do what no kernel may: each ends its command buffer and harms nothing else."""

import numpy as np
import pytest
from small_kernels import HEADER

import flashmetal as fm

pytestmark = pytest.mark.skipif(
    not fm._host.available(), reason="what a fault does to a GPU is not ours to test"
)

# Its frame is far larger than a guard page and than all other stacks of the threadgroup.
GIANT_FRAME = """
kernel void giant_frame(device uint *out [[buffer(0)]], uint i [[thread_position_in_grid]]) {
    volatile uint private_memory[1000000];
    for (uint j = 0; j < 1000000; j++) private_memory[j] = j;
    out[i] = private_memory[i];
}
"""

MEETS = """
kernel void meets(device uint *out [[buffer(0)]], uint i [[thread_position_in_grid]],
                  uint t [[thread_index_in_threadgroup]]) {
    threadgroup uint shared[64];
    shared[t] = t;
    threadgroup_barrier(mem_flags::mem_threadgroup);
    out[i] = shared[63 - t];
}
"""


def run(device, name, text, out):
    registry = fm.KernelRegistry(device)
    registry.register_source(name, HEADER + text)
    with device.encoder() as encoder:
        encoder.dispatch(registry.get_pipeline(name), {0: out}, 1, 64)


def test_a_frame_larger_than_the_stack_reaches_no_other_stack(device):
    out = device.alloc(64, "u32")
    run(device, "meets", MEETS, out)
    with pytest.raises(fm.errors.CommandBufferError, match="ran out of stack") as caught:
        run(device, "giant_frame", GIANT_FRAME, out)
    assert caught.value.kind == "page_fault"
    run(device, "meets", MEETS, out)
    assert np.asarray(out).tolist() == list(range(63, -1, -1))
