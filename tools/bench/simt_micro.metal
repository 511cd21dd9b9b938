// What the engine itself costs: kernels that do nothing but meet.
#include <metal_stdlib>
using namespace metal;

constant constexpr uint MEETINGS = 100;

kernel void only_start(device float *out [[buffer(0)]], uint i [[thread_position_in_grid]]) {
    out[i] = 1.0f;
}

kernel void only_barriers(device float *out [[buffer(0)]], uint i [[thread_position_in_grid]]) {
    for (uint k = 0; k < MEETINGS; k++)
        threadgroup_barrier(mem_flags::mem_threadgroup);
    out[i] = 1.0f;
}

kernel void only_sums(device float *out [[buffer(0)]], uint i [[thread_position_in_grid]]) {
    float sum = 1.0f;
    for (uint k = 0; k < MEETINGS; k++)
        sum = 0.03125f * simd_sum(sum);
    out[i] = sum;
}
