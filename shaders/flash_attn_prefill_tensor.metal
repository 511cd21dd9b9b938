// Prefill attention on Metal 4's tensor API: one threadgroup per tile of query rows and head walks
// the cache in steps of 64 rows, by online softmax in fp32. README.md has the algorithm in words.
// The first header is the one that older systems lack; the host looks for the error that it gives.
#include <metal_tensor>
#include <metal_stdlib>
#include <MetalPerformancePrimitives/MetalPerformancePrimitives.h>
using namespace metal;
using namespace mpp::tensor_ops;

constant constexpr int LANES = 32;
constant constexpr int SIMDGROUPS = 8;
constant constexpr int THREADS = SIMDGROUPS * LANES;
constant constexpr int KEYS = 64;  // cache rows of a step, and the width of a mask tile

// A row's output is scaled down only when its peak has risen by more than this: weights stay below
// exp(8), which half holds, and most steps leave the output alone.
constant constexpr float SLACK = 8.0f;

// As flash_attn_prefill_blk writes them.
enum TileClass : uchar { SKIP = 0, MIXED = 1, OPEN = 2 };

// What the host passes at index 0: twelve 32-bit words. Strides are in elements.
struct FlashAttnPrefillTensorParams {
    int rows;
    int n_heads;
    int n_kv_heads;
    int kv_pad;
    int q_row_stride;
    int q_head_stride;
    int k_row_stride;
    int k_head_stride;
    int v_row_stride;
    int v_head_stride;
    int mask_row_stride;
    float scale;
};
static_assert(sizeof(FlashAttnPrefillTensorParams) == 48, "the host packs twelve words");

// Threadgroup memory.
template <int HEAD_DIM, int QUERIES> struct Shared {
    half4 query[QUERIES * HEAD_DIM / 4];  // scaled
    float2 scores[QUERIES * KEYS / 2];
    half2 weights[QUERIES * KEYS / 2];
    float factors[QUERIES];  // of each output row in this step; at the end, the sum of its weights
    atomic_int rescaled_step;  // the last step, from 1, in which a factor is not 1
};
static_assert(sizeof(Shared<256, 32>) <= 28816, "what the host sets aside for d256");
static_assert(sizeof(Shared<512, 16>) <= 22608, "what the host sets aside for d512");

// Whether a slot of a cooperative tensor stands for an element, by the name that the system has.
template <typename Tensor>
inline auto holds_element(thread Tensor &tensor, ushort slot, int)
    -> decltype(tensor.is_valid_element(slot)) {
    return tensor.is_valid_element(slot);
}
template <typename Tensor> inline bool holds_element(thread Tensor &tensor, ushort slot, long) {
    return tensor.get_mask(slot);
}

// Rows past the end are zero.
template <int HEAD_DIM, int QUERIES>
inline void load_query(threadgroup half4 *query, device const float *q, int rows, int row_stride,
                       float scale, uint thread_index) {
    constexpr int QUADS = HEAD_DIM / 4;
    for (int i = int(thread_index); i < QUERIES * QUADS; i += THREADS) {
        const int row = i / QUADS;
        half4 quad = 0.0h;
        if (row < rows) {
            device const float *from = q + long(row) * row_stride;
            quad = half4(scale * ((device const float4 *)from)[i % QUADS]);
        }
        query[i] = quad;
    }
}

template <int HEAD_DIM, int QUERIES>
// clang-format off: one argument a line
[[kernel, max_total_threads_per_threadgroup(THREADS)]] void
prefill_attention(constant FlashAttnPrefillTensorParams &params [[buffer(0)]],
                  device const float *q [[buffer(1)]],
                  device const half *k [[buffer(2)]],
                  device const half *v [[buffer(3)]],
                  device const half *mask [[buffer(4)]],
                  device const uchar *blk [[buffer(5)]],
                  device float *out [[buffer(6)]],
                  threadgroup Shared<HEAD_DIM, QUERIES> *shared [[threadgroup(0)]],
                  uint3 threadgroup_position [[threadgroup_position_in_grid]],
                  uint thread_index [[thread_index_in_threadgroup]],
                  uint lane [[thread_index_in_simdgroup]],
                  uint simdgroup [[simdgroup_index_in_threadgroup]])
// clang-format on
{
    constexpr int OWN_ROWS = QUERIES / SIMDGROUPS;  // whose softmax a SIMD-group computes

    const int head = int(threadgroup_position.y);
    const int kv_head = head / (params.n_heads / params.n_kv_heads);
    const int first_row = int(threadgroup_position.x) * QUERIES;
    const int rows = min(QUERIES, params.rows - first_row);
    const int steps = params.kv_pad / KEYS;
    const int own_row = int(simdgroup) * OWN_ROWS;

    q += long(first_row) * params.q_row_stride + long(head) * params.q_head_stride;
    k += long(kv_head) * params.k_head_stride;
    v += long(kv_head) * params.v_head_stride;
    mask += long(first_row) * params.mask_row_stride;
    blk += long(threadgroup_position.x) * steps;
    out += (long(first_row) * params.n_heads + head) * HEAD_DIM;

    using QueryTensor = tensor<threadgroup half, dextents<int, 2>, tensor_inline>;
    using ScoreTensor = tensor<threadgroup float, dextents<int, 2>, tensor_inline>;
    using CacheTensor = tensor<device half, dextents<int, 2>, tensor_inline>;
    constexpr auto SCORES = matmul2d_descriptor(QUERIES, KEYS, HEAD_DIM, false, true, false,
                                                matmul2d_descriptor::mode::multiply);
    constexpr auto OUTPUT = matmul2d_descriptor(QUERIES, HEAD_DIM, KEYS, false, false, false,
                                                matmul2d_descriptor::mode::multiply_accumulate);
    matmul2d<SCORES, execution_simdgroups<SIMDGROUPS>> score_product;
    matmul2d<OUTPUT, execution_simdgroups<SIMDGROUPS>> output_product;

    QueryTensor query((threadgroup half *)shared->query, dextents<int, 2>(HEAD_DIM, QUERIES));
    ScoreTensor scores((threadgroup float *)shared->scores, dextents<int, 2>(KEYS, QUERIES));
    QueryTensor weights((threadgroup half *)shared->weights, dextents<int, 2>(KEYS, QUERIES));
    auto output =
        output_product
            .template get_destination_cooperative_tensor<QueryTensor, CacheTensor, float>();
    for (ushort i = 0; i < output.get_capacity(); i++)
        output[i] = 0.0f;

    float peak[OWN_ROWS];
    float weight_sum[OWN_ROWS];
    for (int i = 0; i < OWN_ROWS; i++) {
        peak[i] = -FLT_MAX / 2;  // finite: while a row sees no key, -inf - -inf would be NaN
        weight_sum[i] = 0.0f;
    }
    load_query<HEAD_DIM, QUERIES>(shared->query, q, rows, params.q_row_stride, params.scale,
                                  thread_index);
    if (thread_index == 0) atomic_store_explicit(&shared->rescaled_step, 0, memory_order_relaxed);
    threadgroup_barrier(mem_flags::mem_threadgroup);

    for (int step = 0; step < steps; step++) {
        const uchar tile_class = blk[step];
        if (tile_class == SKIP) continue;

        // matmul2d takes no tensor of const elements. It is no barrier.
        const long first_key = long(step) * KEYS;
        CacheTensor keys((device half *)(k + first_key * params.k_row_stride),
                         dextents<int, 2>(HEAD_DIM, KEYS), array<int, 2>{1, params.k_row_stride});
        CacheTensor values((device half *)(v + first_key * params.v_row_stride),
                           dextents<int, 2>(HEAD_DIM, KEYS), array<int, 2>{1, params.v_row_stride});
        score_product.run(query, keys, scores);
        threadgroup_barrier(mem_flags::mem_threadgroup);

        for (int i = 0; i < OWN_ROWS; i++) {
            const int row = own_row + i;
            float2 score = shared->scores[row * LANES + int(lane)];
            if (tile_class == MIXED && row < rows) {
                device const half *cells = mask + long(row) * params.mask_row_stride + first_key;
                score += float2(((device const half2 *)cells)[lane]);
            }
            const float step_peak = max(peak[i], simd_max(max(score.x, score.y)));
            float factor = 1.0f;
            if (step_peak > peak[i] + SLACK) {
                factor = exp(peak[i] - step_peak);
                peak[i] = step_peak;
                if (lane == 0) {
                    atomic_store_explicit(&shared->rescaled_step, step + 1, memory_order_relaxed);
                }
            }
            // The sum is of the weights as the product reads them.
            const half2 weight = half2(exp(score - peak[i]));
            shared->weights[row * LANES + int(lane)] = weight;
            weight_sum[i] = weight_sum[i] * factor + simd_sum(float(weight.x) + float(weight.y));
            if (lane == 0) shared->factors[row] = factor;
        }
        threadgroup_barrier(mem_flags::mem_threadgroup);

        // The next step's first write to what is read here comes after its first barrier.
        if (atomic_load_explicit(&shared->rescaled_step, memory_order_relaxed) == step + 1) {
            for (ushort i = 0; i < output.get_capacity(); i++) {
                if (!holds_element(output, i, 0)) continue;
                output[i] *= shared->factors[output.get_multidimensional_index(i)[1]];
            }
        }
        output_product.run(weights, values, output);
    }

    threadgroup_barrier(mem_flags::mem_threadgroup);
    if (lane == 0) {
        for (int i = 0; i < OWN_ROWS; i++)
            shared->factors[own_row + i] = weight_sum[i];
    }
    threadgroup_barrier(mem_flags::mem_threadgroup);

    // Element by element, for a row of the output may be wider than the strides of a tensor.
    for (ushort i = 0; i < output.get_capacity(); i++) {
        if (!holds_element(output, i, 0)) continue;
        const auto position = output.get_multidimensional_index(i);
        const int row = int(position[1]);
        if (row >= rows) continue;
        const float sum = shared->factors[row];
        out[long(row) * params.n_heads * HEAD_DIM + position[0]] =
            sum == 0.0f ? 0.0f : output[i] / sum;
    }
}

using PrefillD256 = decltype(prefill_attention<256, 32>);
using PrefillD512 = decltype(prefill_attention<512, 16>);
// clang-format off: one entry point a line
template [[host_name("flash_attn_prefill_tensor_f16_d256")]] [[kernel]] PrefillD256 prefill_attention<256, 32>;
template [[host_name("flash_attn_prefill_tensor_f16_d512")]] [[kernel]] PrefillD512 prefill_attention<512, 16>;
// clang-format on
