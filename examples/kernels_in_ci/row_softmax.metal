// Softmax of each row of a matrix: one threadgroup a row.
#include <metal_stdlib>
using namespace metal;

constant uint COLUMNS [[function_constant(0)]];
constant constexpr uint MOST_SIMDGROUPS = 32;

// What every thread gets is the same: `combine` of the values of all SIMD-groups.
template <typename Combine>
inline float across_simdgroups(float value, threadgroup float *partial, uint lane, uint simdgroup,
                               uint simdgroups, Combine combine) {
    if (lane == 0) partial[simdgroup] = value;
    threadgroup_barrier(mem_flags::mem_threadgroup);
    float result = partial[0];
    for (uint i = 1; i < simdgroups; i++)
        result = combine(result, partial[i]);
    return result;
}

struct Larger {
    float operator()(float a, float b) const { return max(a, b); }
};

struct Sum {
    float operator()(float a, float b) const { return a + b; }
};

[[kernel]] void row_softmax(device const float *x [[buffer(0)]], device float *y [[buffer(1)]],
                            uint row [[threadgroup_position_in_grid]],
                            uint thread_index [[thread_index_in_threadgroup]],
                            uint threads [[threads_per_threadgroup]],
                            uint lane [[thread_index_in_simdgroup]],
                            uint simdgroup [[simdgroup_index_in_threadgroup]],
                            uint simdgroups [[simdgroups_per_threadgroup]]) {
    threadgroup float peaks[MOST_SIMDGROUPS];
    threadgroup float sums[MOST_SIMDGROUPS];
    x += ulong(row) * COLUMNS;
    y += ulong(row) * COLUMNS;

    float peak = -INFINITY;
    for (uint i = thread_index; i < COLUMNS; i += threads)
        peak = max(peak, x[i]);
    peak = across_simdgroups(simd_max(peak), peaks, lane, simdgroup, simdgroups, Larger());

    float sum = 0.0f;
    for (uint i = thread_index; i < COLUMNS; i += threads)
        sum += exp(x[i] - peak);
    sum = across_simdgroups(simd_sum(sum), sums, lane, simdgroup, simdgroups, Sum());

    for (uint i = thread_index; i < COLUMNS; i += threads)
        y[i] = exp(x[i] - peak) / sum;
}
