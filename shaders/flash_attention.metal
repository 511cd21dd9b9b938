// Decode attention: one query token of every head over its f16 K/V cache, by online softmax in
// fp32. One threadgroup of 256 threads per query head; README.md has the algorithm in words.
#include <metal_stdlib>
using namespace metal;

constant constexpr uint THREADS = 256;
constant constexpr uint LANES = 32;
constant constexpr uint SIMDGROUPS = THREADS / LANES;
constant constexpr uint TILE_ROWS = THREADS;  // one cache row per thread and tile
constant constexpr uint MAX_HEAD_DIM = 128;

// What the host passes at index 4: eight 32-bit words.
struct FlashAttentionParams {
    uint n_heads;
    uint n_kv_heads;
    uint head_dim;
    uint kv_dim;  // elements from one cache row to the next: n_kv_heads * head_dim
    uint seq_len;
    uint scale_bits;  // of the f32 scale
    uint reserved[2];
};
static_assert(sizeof(FlashAttentionParams) == 32, "the host packs eight words");

// q·k of one cache row. Two chains, so that one multiply-add need not wait for the last.
inline float dot_product(threadgroup const float4 *query, device const half4 *key, uint quads) {
    float4 even = 0.0f;
    float4 odd = 0.0f;
    uint i = 0;
    for (; i + 1 < quads; i += 2) {
        even += query[i] * float4(key[i]);
        odd += query[i + 1] * float4(key[i + 1]);
    }
    if (i < quads) even += query[i] * float4(key[i]);
    const float4 sum = even + odd;
    return (sum.x + sum.y) + (sum.z + sum.w);
}

// The dims of a V row that a lane owns. Three per lane need not divide the head: a lane that owns
// fewer reads its last one again, for the next would be another head's.
template <uint DIMS> inline float4 load_dims(device const half *row, uint owned) {
    if (DIMS == 4) return float4(*(device const half4 *)row);
    if (DIMS == 2) return float4(float2(*(device const half2 *)row), 0.0f, 0.0f);
    if (DIMS == 1) return float4(float(row[0]), 0.0f, 0.0f, 0.0f);
    return float4(float(row[0]), float(row[min(1u, owned - 1)]), float(row[owned - 1]), 0.0f);
}

// Σ p·v over consecutive cache rows, of the dims that a lane owns. Two chains, as above.
template <uint DIMS>
inline float4 weighted_sum(threadgroup const float *weights, device const half *values,
                           ulong row_stride, uint rows, uint owned) {
    float4 even = 0.0f;
    float4 odd = 0.0f;
    uint row = 0;
    for (; row + 1 < rows; row += 2) {
        even += weights[row] * load_dims<DIMS>(values, owned);
        odd += weights[row + 1] * load_dims<DIMS>(values + row_stride, owned);
        values += 2 * row_stride;
    }
    if (row < rows) even += weights[row] * load_dims<DIMS>(values, owned);
    return even + odd;
}

inline float4 weighted_sum(threadgroup const float *weights, device const half *values,
                           ulong row_stride, uint rows, uint owned, uint dims_per_lane) {
    switch (dims_per_lane) {
    case 1:
        return weighted_sum<1>(weights, values, row_stride, rows, owned);
    case 2:
        return weighted_sum<2>(weights, values, row_stride, rows, owned);
    case 3:
        return weighted_sum<3>(weights, values, row_stride, rows, owned);
    default:
        return weighted_sum<4>(weights, values, row_stride, rows, owned);
    }
}

inline float largest(threadgroup const float4 *values) {
    const float4 pairs = max(values[0], values[1]);
    return max(max(pairs.x, pairs.y), max(pairs.z, pairs.w));
}

inline float total(threadgroup const float4 *values) {
    const float4 pairs = values[0] + values[1];
    return (pairs.x + pairs.y) + (pairs.z + pairs.w);
}

// HEAD_DIM: the head's width where it is known at compile time; 0 where the params say it.
template <uint HEAD_DIM>
// clang-format off: one argument a line
[[kernel, max_total_threads_per_threadgroup(THREADS)]] void
decode_attention(device const float *q [[buffer(0)]],
                 device const half *k_cache [[buffer(1)]],
                 device const half *v_cache [[buffer(2)]],
                 device float *out [[buffer(3)]],
                 constant FlashAttentionParams &params [[buffer(4)]],
                 uint head [[threadgroup_position_in_grid]],
                 uint thread_index [[thread_index_in_threadgroup]],
                 uint lane [[thread_index_in_simdgroup]],
                 uint simdgroup [[simdgroup_index_in_threadgroup]])
// clang-format on
{
    threadgroup float4 query[MAX_HEAD_DIM / 4];
    threadgroup float weights[TILE_ROWS];
    threadgroup float4 simdgroup_results[SIMDGROUPS / 4];
    threadgroup float partials[SIMDGROUPS * MAX_HEAD_DIM];

    const uint head_dim = HEAD_DIM > 0 ? HEAD_DIM : params.head_dim;
    if (head_dim > MAX_HEAD_DIM) return;

    const uint seq_len = params.seq_len;
    const ulong row_stride = params.kv_dim;
    const uint kv_head = head / (params.n_heads / params.n_kv_heads);
    const float scale = as_type<float>(params.scale_bits);
    q += ulong(head) * head_dim;
    out += ulong(head) * head_dim;
    k_cache += ulong(kv_head) * head_dim;
    v_cache += ulong(kv_head) * head_dim;

    if (seq_len == 0) {
        if (thread_index < head_dim) out[thread_index] = 0.0f;
        return;
    }
    if (thread_index < head_dim) ((threadgroup float *)query)[thread_index] = q[thread_index];
    threadgroup_barrier(mem_flags::mem_threadgroup);

    const uint dims_per_lane = (head_dim + LANES - 1) / LANES;
    const uint first_dim = lane * dims_per_lane;
    const uint owned = first_dim < head_dim ? min(dims_per_lane, head_dim - first_dim) : 0;

    float peak = -INFINITY;
    float weight_sum = 0.0f;  // of the rows that this thread scored
    float4 output = 0.0f;     // of the rows that this SIMD-group summed
    uint tile_rows;
    for (uint tile = 0; tile < seq_len; tile += tile_rows) {
        tile_rows = min(TILE_ROWS, seq_len - tile);

        float score = -INFINITY;
        if (thread_index < tile_rows) {
            device const half *key = k_cache + (ulong(tile) + thread_index) * row_stride;
            score = scale * dot_product(query, (device const half4 *)key, head_dim / 4);
        }
        const float simdgroup_peak = simd_max(score);
        if (lane == 0) ((threadgroup float *)simdgroup_results)[simdgroup] = simdgroup_peak;
        threadgroup_barrier(mem_flags::mem_threadgroup);

        const float new_peak = max(peak, largest(simdgroup_results));
        // While every score is -inf, -inf - -inf would turn weights of 0 into NaN.
        const float shift = new_peak == -INFINITY ? 0.0f : new_peak;
        const float correction = exp(peak - shift);
        const float weight = exp(score - shift);
        peak = new_peak;
        weight_sum = weight_sum * correction + weight;
        weights[thread_index] = weight;
        threadgroup_barrier(mem_flags::mem_threadgroup);

        // The next tile's first write to what is read here comes after its first barrier.
        const uint share = (tile_rows + SIMDGROUPS - 1) / SIMDGROUPS;
        const uint first_row = min(simdgroup * share, tile_rows);
        const uint rows = owned > 0 ? min(share, tile_rows - first_row) : 0;
        device const half *values = v_cache + (ulong(tile) + first_row) * row_stride + first_dim;
        output = output * correction +
                 weighted_sum(weights + first_row, values, row_stride, rows, owned, dims_per_lane);
    }

    const float simdgroup_sum = simd_sum(weight_sum);
    if (lane == 0) ((threadgroup float *)simdgroup_results)[simdgroup] = simdgroup_sum;
    for (uint dim = 0; dim < owned; dim++) {
        partials[simdgroup * head_dim + first_dim + dim] = output[dim];
    }
    threadgroup_barrier(mem_flags::mem_threadgroup);

    if (thread_index < head_dim) {
        float sum = 0.0f;
        for (uint group = 0; group < SIMDGROUPS; group++) {
            sum += partials[group * head_dim + thread_index];
        }
        out[thread_index] = sum / total(simdgroup_results);
    }
}

using DecodeAttention = decltype(decode_attention<0>);
// clang-format off: one entry point a line
template [[host_name("flash_attention")]] [[kernel]] DecodeAttention decode_attention<0>;
template [[host_name("flash_attention_hd64")]] [[kernel]] DecodeAttention decode_attention<64>;
template [[host_name("flash_attention_hd128")]] [[kernel]] DecodeAttention decode_attention<128>;
// clang-format on
