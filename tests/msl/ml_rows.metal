// Kernels of the kinds that libraries for machine learning ship: one threadgroup for each row.
#include <metal_stdlib>
using namespace metal;

constant constexpr uint SIMD = 32;

// Of the whole threadgroup; `cells` holds a value for each SIMD-group.
template <typename Op>
float reduce(float value, float start, threadgroup float *cells, uint lane, uint group, uint groups,
             Op op) {
    value = op(value);
    if (lane == 0) cells[group] = value;
    threadgroup_barrier(mem_flags::mem_threadgroup);
    value = op(lane < groups ? cells[lane] : start);
    threadgroup_barrier(mem_flags::mem_threadgroup);
    return value;
}
struct Sum {
    float operator()(float x) const { return simd_sum(x); }
};
struct Max {
    float operator()(float x) const { return simd_max(x); }
};

#define ROW                                                                                        \
    uint row [[threadgroup_position_in_grid]], uint i [[thread_position_in_threadgroup]],          \
        uint n [[threads_per_threadgroup]], uint lane [[thread_index_in_simdgroup]],               \
        uint group [[simdgroup_index_in_threadgroup]], uint groups [[simdgroups_per_threadgroup]]

template <typename T>
kernel void softmax(device const T *in [[buffer(0)]], device T *out [[buffer(1)]],
                    constant uint &columns [[buffer(2)]], ROW) {
    threadgroup float cells[SIMD];
    in += row * columns, out += row * columns;
    float highest = -INFINITY;
    for (uint k = i; k < columns; k += n)
        highest = max(highest, float(in[k]));
    highest = reduce(highest, -INFINITY, cells, lane, group, groups, Max());
    float sum = 0;
    for (uint k = i; k < columns; k += n)
        sum += exp(float(in[k]) - highest);
    sum = reduce(sum, 0, cells, lane, group, groups, Sum());
    for (uint k = i; k < columns; k += n)
        out[k] = T(exp(float(in[k]) - highest) / sum);
}
#define instantiate(NAME, TYPE)                                                                    \
    template [[host_name(#NAME "_" #TYPE)]] [[kernel]] decltype(NAME<TYPE>) NAME<TYPE>;
instantiate(softmax, float);
instantiate(softmax, half);

kernel void rms_norm(device const float *in [[buffer(0)]], device float *out [[buffer(1)]],
                     constant uint &columns [[buffer(2)]], device const float *weight [[buffer(3)]],
                     ROW) {
    threadgroup float cells[SIMD];
    in += row * columns, out += row * columns;
    float squares = 0;
    for (uint k = i; k < columns; k += n)
        squares += in[k] * in[k];
    squares = reduce(squares, 0, cells, lane, group, groups, Sum());
    const float scale = metal::precise::rsqrt(squares / columns + 1e-5);
    for (uint k = i; k < columns; k += n)
        out[k] = weight[k] * (in[k] * scale);
}

kernel void layer_norm(device const float *in [[buffer(0)]], device float *out [[buffer(1)]],
                       constant uint &columns [[buffer(2)]],
                       device const float *weight [[buffer(3)]],
                       device const float *bias [[buffer(4)]], ROW) {
    threadgroup float cells[SIMD];
    in += row * columns, out += row * columns;
    float sum = 0;
    for (uint k = i; k < columns; k += n)
        sum += in[k];
    const float mean = reduce(sum, 0, cells, lane, group, groups, Sum()) / columns;
    float squares = 0;
    for (uint k = i; k < columns; k += n)
        squares += (in[k] - mean) * (in[k] - mean);
    squares = reduce(squares, 0, cells, lane, group, groups, Sum());
    const float scale = rsqrt(squares / columns + 1e-5f);
    for (uint k = i; k < columns; k += n)
        out[k] = fma((in[k] - mean) * scale, weight[k], bias[k]);
}

kernel void sum_rows(device const float *in [[buffer(0)]], device float *out [[buffer(1)]],
                     constant uint &columns [[buffer(2)]], ROW) {
    threadgroup float cells[SIMD];
    float sum = 0;
    for (uint k = i; k < columns; k += n)
        sum += in[row * columns + k];
    sum = reduce(sum, 0, cells, lane, group, groups, Sum());
    if (i == 0) out[row] = sum;
}

struct Indexed {
    float value;
    uint index;
};
Indexed better(Indexed a, Indexed b) {
    return b.value > a.value || (b.value == a.value && b.index < a.index) ? b : a;
}
kernel void argmax_rows(device const float *in [[buffer(0)]], device uint *out [[buffer(1)]],
                        constant uint &columns [[buffer(2)]], ROW) {
    threadgroup Indexed cells[SIMD];
    Indexed best = {-INFINITY, ~0u};
    for (uint k = i; k < columns; k += n)
        best = better(best, Indexed{in[row * columns + k], k});
    for (ushort step = SIMD / 2; step > 0; step /= 2) {
        best = better(best, Indexed{simd_shuffle_down(best.value, step),
                                    simd_shuffle_down(best.index, step)});
    }
    if (lane == 0) cells[group] = best;
    threadgroup_barrier(mem_flags::mem_threadgroup);
    if (i != 0) return;
    for (uint k = 1; k < groups; k++)
        best = better(best, cells[k]);
    out[row] = best.index;
}

kernel void scan_rows(device const float *in [[buffer(0)]], device float *out [[buffer(1)]],
                      constant uint &columns [[buffer(2)]], ROW) {
    threadgroup float cells[SIMD];
    in += row * columns, out += row * columns;
    float before = 0;
    for (uint start = 0; start < columns; start += n) {
        const uint k = start + i;
        const float value = k < columns ? in[k] : 0;
        const float sum = simd_prefix_inclusive_sum(value);
        if (lane == SIMD - 1) cells[group] = sum;
        threadgroup_barrier(mem_flags::mem_threadgroup);
        const float below = simd_prefix_exclusive_sum(lane < groups ? cells[lane] : 0.0f);
        const float start_of_group = before + simd_shuffle(below, group);
        if (k < columns) out[k] = start_of_group + sum;
        before += simd_sum(lane < groups ? cells[lane] : 0.0f);
        threadgroup_barrier(mem_flags::mem_threadgroup);
    }
}

// Ascending; the row fills up with infinities to a power of two.
kernel void sort_rows(device const float *in [[buffer(0)]], device float *out [[buffer(1)]],
                      constant uint &columns [[buffer(2)]], ROW) {
    threadgroup float values[1024];
    values[i] = i < columns ? in[row * columns + i] : INFINITY;
    threadgroup_barrier(mem_flags::mem_threadgroup);
    for (uint size = 2; size <= n; size *= 2) {
        for (uint step = size / 2; step > 0; step /= 2) {
            const uint other = i ^ step;
            const bool up = (i & size) == 0;
            if (other > i && (values[i] > values[other]) == up) {
                const float swapped = values[i];
                values[i] = values[other];
                values[other] = swapped;
            }
            threadgroup_barrier(mem_flags::mem_threadgroup);
        }
    }
    if (i < columns) out[row * columns + i] = values[i];
}
