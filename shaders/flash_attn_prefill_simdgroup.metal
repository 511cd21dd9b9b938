// Prefill attention on simdgroup_matrix, which every Apple silicon GPU has: one threadgroup per
// tile of query rows and head walks the cache in steps of 64 rows, by online softmax in fp32.
// README.md has the algorithm in words. The host looks for the error that a missing first header
// gives.
#include <metal_simdgroup_matrix>
#include <metal_stdlib>
using namespace metal;

constant constexpr int LANES = 32;
constant constexpr int SIMDGROUPS = 8;
constant constexpr int THREADS = SIMDGROUPS * LANES;
constant constexpr int QUERIES = 32;
constant constexpr int KEYS = 64;  // cache rows of a step, and the width of a mask tile
constant constexpr int MAX_HEAD_DIM = 256;

// Products are of blocks of 8 by 8. The SIMD-groups stand in 2 rows of 4: each multiplies a strip
// of 16 queries, with every fourth block of the output's columns and a quarter of a step's keys.
constant constexpr int SIDE = 8;
constant constexpr int STRIP = 2;   // blocks
constant constexpr int ACROSS = 4;  // SIMD-groups
constant constexpr int KEY_BLOCKS = KEYS / SIDE;
constant constexpr int OWN_KEY_BLOCKS = KEY_BLOCKS / ACROSS;
static_assert(SIMDGROUPS / ACROSS * STRIP * SIDE == QUERIES, "strips cover the queries");

// A row's output is scaled down only when its peak has risen by more than this: weights stay below
// exp(8), which half holds, and most steps leave the output alone.
constant constexpr float SLACK = 8.0f;

// As flash_attn_prefill_blk writes them.
enum TileClass : uchar { SKIP = 0, MIXED = 1, OPEN = 2 };

// What the host passes at index 0: twelve 32-bit words. Strides are in elements.
struct FlashAttnPrefillSimdgroupParams {
    int rows;
    int n_heads;
    int n_kv_heads;
    int kv_pad;  // also the stride of the mask's rows
    int q_row_stride;
    int q_head_stride;
    int k_row_stride;
    int k_head_stride;
    int v_row_stride;
    int v_head_stride;
    int head_dim;
    float scale;
};
static_assert(sizeof(FlashAttnPrefillSimdgroupParams) == 48, "the host packs twelve words");

// Threadgroup memory, but for what grows with head_dim and lies behind it: the scaled queries, half
// [QUERIES, head_dim rounded up to 8], and where that is not head_dim the Tails.
struct Shared {
    float2 scores[QUERIES * KEYS / 2];
    half2 weights[QUERIES * KEYS / 2];
    float4 factors[QUERIES / 4];  // of each output row in a step; at the end, its sum of weights
    atomic_int rescaled_step;     // the last step, from 1, in which a factor is not 1
    int unused[3];                // to a multiple of what half4 needs
};
static_assert(sizeof(Shared) == 12432, "what the host sets aside");

// The last four columns of a step's keys and values, with four of zeros: a block of their own, for
// the next head's values, which may be NaN, or the end of the buffer are where it would reach.
struct Tails {
    half4 keys[KEYS][2];
    half4 values[KEYS][2];
};
static_assert(sizeof(Tails) == 2048, "what the host sets aside");

// Functions of matrices take references to ones that are not const.
using Product = simdgroup_float8x8;
using Factor = simdgroup_half8x8;

// Rows past the end and columns past head_dim are zero.
METAL_FUNC void load_query(threadgroup half4 *query, device const float *q, int rows,
                           int row_stride, int head_dim, int quads, float scale,
                           uint thread_index) {
    for (int i = int(thread_index); i < QUERIES * quads; i += THREADS) {
        const int row = i / quads;
        const int quad = i % quads;
        half4 values = 0.0h;
        if (row < rows && quad * 4 < head_dim) {
            device const float *from = q + long(row) * row_stride;
            values = half4(scale * ((device const float4 *)from)[quad]);
        }
        query[i] = values;
    }
}

// `from` is the tail of the step's first row.
METAL_FUNC void load_tail(threadgroup half4 (&tail)[KEYS][2], device const half *from,
                          int row_stride, uint thread_index) {
    const int row = int(thread_index);
    if (row >= KEYS) return;
    tail[row][0] = *(device const half4 *)(from + long(row) * row_stride);
    tail[row][1] = 0.0h;
}

// Adds the product of a block of the strip's queries' columns and of the own keys' to the scores.
template <typename Keys>
METAL_FUNC void add_scores(thread Product (&scores)[STRIP][OWN_KEY_BLOCKS],
                           threadgroup const half *query, int query_stride, Keys keys,
                           int key_stride) {
    Factor query_block[STRIP];
    Factor key_block[OWN_KEY_BLOCKS];
    for (int i = 0; i < STRIP; i++)
        simdgroup_load(query_block[i], query + i * SIDE * query_stride, query_stride);
    for (int j = 0; j < OWN_KEY_BLOCKS; j++)
        simdgroup_load(key_block[j], keys + long(j) * SIDE * key_stride, key_stride, 0, true);
    for (int i = 0; i < STRIP; i++) {
        for (int j = 0; j < OWN_KEY_BLOCKS; j++)
            simdgroup_multiply_accumulate(scores[i][j], query_block[i], key_block[j], scores[i][j]);
    }
}

// Adds the product of the strip's weights and a block of the values' columns to the output.
template <typename Values>
METAL_FUNC void add_values(thread Product (&output)[STRIP],
                           thread Factor (&weights)[STRIP][KEY_BLOCKS], Values values,
                           int value_stride) {
    for (int j = 0; j < KEY_BLOCKS; j++) {
        Factor value_block;
        simdgroup_load(value_block, values + long(j) * SIDE * value_stride, value_stride);
        for (int i = 0; i < STRIP; i++)
            simdgroup_multiply_accumulate(output[i], weights[i][j], value_block, output[i]);
    }
}

// Puts a block of the strip's output into the SIMD-group's own scratch; returns the lane's quad of
// it, of row lane / 2 and columns 4 * (lane % 2) on. Which elements of a matrix a lane holds is not
// for a kernel to know, and a product with a diagonal matrix would carry NaN from row to row.
METAL_FUNC threadgroup float4 &spread(thread Product (&output)[STRIP], threadgroup float *scratch,
                                      uint lane) {
    simdgroup_barrier(mem_flags::mem_threadgroup);
    for (int i = 0; i < STRIP; i++)
        simdgroup_store(output[i], scratch + i * SIDE * KEYS, KEYS);
    simdgroup_barrier(mem_flags::mem_threadgroup);
    return ((threadgroup float4 *)(scratch + lane / 2 * KEYS))[lane % 2];
}

METAL_FUNC void gather(thread Product (&output)[STRIP], threadgroup const float *scratch) {
    simdgroup_barrier(mem_flags::mem_threadgroup);
    for (int i = 0; i < STRIP; i++)
        simdgroup_load(output[i], scratch + i * SIDE * KEYS, KEYS);
}

// HEAD_DIM 0 takes it from the params.
template <int HEAD_DIM>
// clang-format off: one argument a line
[[kernel, max_total_threads_per_threadgroup(THREADS)]] void
prefill_attention(constant FlashAttnPrefillSimdgroupParams &params [[buffer(0)]],
                  device const float *q [[buffer(1)]],
                  device const half *k [[buffer(2)]],
                  device const half *v [[buffer(3)]],
                  device const half *mask [[buffer(4)]],
                  device const uchar *blk [[buffer(5)]],
                  device float *out [[buffer(6)]],
                  threadgroup Shared *shared [[threadgroup(0)]],
                  uint3 threadgroup_position [[threadgroup_position_in_grid]],
                  uint thread_index [[thread_index_in_threadgroup]],
                  uint lane [[thread_index_in_simdgroup]],
                  uint simdgroup [[simdgroup_index_in_threadgroup]])
// clang-format on
{
    constexpr int OWN_ROWS = 4;  // whose softmax a SIMD-group computes, side by side in vectors
    static_assert(OWN_ROWS * SIMDGROUPS == QUERIES, "all rows are somebody's");
    constexpr int MOST_BLOCKS = (HEAD_DIM > 0 ? HEAD_DIM : MAX_HEAD_DIM) / SIDE;
    constexpr int OWN_BLOCKS = (MOST_BLOCKS + ACROSS - 1) / ACROSS;  // of the output's columns

    const int head_dim = HEAD_DIM > 0 ? HEAD_DIM : params.head_dim;
    if (head_dim > MAX_HEAD_DIM) return;
    const int whole_blocks = head_dim / SIDE;
    const bool has_tail = head_dim % SIDE != 0;
    const int blocks = whole_blocks + int(has_tail);
    const int width = blocks * SIDE;
    const int tail_column = whole_blocks * SIDE;

    const int head = int(threadgroup_position.y);
    const int kv_head = head / (params.n_heads / params.n_kv_heads);
    const int first_row = int(threadgroup_position.x) * QUERIES;
    const int rows = min(QUERIES, params.rows - first_row);
    const int steps = params.kv_pad / KEYS;
    const int own_row = int(simdgroup) * OWN_ROWS;
    const int strip_row = int(simdgroup) / ACROSS * STRIP * SIDE;
    const int across = int(simdgroup) % ACROSS;
    const int own_key = across * OWN_KEY_BLOCKS * SIDE;
    const int quad_row = strip_row + int(lane) / 2;  // of what `spread` returns

    q += long(first_row) * params.q_row_stride + long(head) * params.q_head_stride;
    k += long(kv_head) * params.k_head_stride;
    v += long(kv_head) * params.v_head_stride;
    mask += long(first_row) * params.kv_pad;
    blk += long(threadgroup_position.x) * steps;
    out += (long(first_row) * params.n_heads + head) * head_dim;

    threadgroup half *query = (threadgroup half *)(shared + 1);
    threadgroup const float *factors = (threadgroup const float *)shared->factors;
    threadgroup Tails *tails = (threadgroup Tails *)(query + QUERIES * width);
    threadgroup const half *strip_query = query + strip_row * width;
    threadgroup const half *strip_weights = (threadgroup half *)shared->weights + strip_row * KEYS;
    // The SIMD-group's own block of the scores: no other writes it, so that it is scratch, too,
    // from when all have read the step's scores to when this one writes the next.
    threadgroup float *own_scores =
        (threadgroup float *)shared->scores + strip_row * KEYS + own_key;

    Product output[OWN_BLOCKS][STRIP];
    for (int j = 0; j < OWN_BLOCKS; j++) {
        for (int i = 0; i < STRIP; i++)
            output[j][i] = make_filled_simdgroup_matrix<float, SIDE>(0.0f);
    }
    float4 peak = -FLT_MAX / 2;  // finite: while a row sees no key, -inf - -inf would be NaN
    float4 weight_sum = 0.0f;
    load_query((threadgroup half4 *)query, q, rows, params.q_row_stride, head_dim, width / 4,
               params.scale, thread_index);
    if (thread_index == 0) atomic_store_explicit(&shared->rescaled_step, 0, memory_order_relaxed);
    threadgroup_barrier(mem_flags::mem_threadgroup);

    for (int step = 0; step < steps; step++) {
        const uchar tile_class = blk[step];
        if (tile_class == SKIP) continue;

        const long first_key = long(step) * KEYS;
        device const half *keys = k + first_key * params.k_row_stride;
        device const half *values = v + first_key * params.v_row_stride;
        if (has_tail) {
            load_tail(tails->keys, keys + tail_column, params.k_row_stride, thread_index);
            threadgroup_barrier(mem_flags::mem_threadgroup);
        }

        Product scores[STRIP][OWN_KEY_BLOCKS];
        for (int i = 0; i < STRIP; i++) {
            for (int j = 0; j < OWN_KEY_BLOCKS; j++)
                scores[i][j] = make_filled_simdgroup_matrix<float, SIDE>(0.0f);
        }
        device const half *own_keys = keys + long(own_key) * params.k_row_stride;
        for (int block = 0; block < whole_blocks; block++) {
            add_scores(scores, strip_query + block * SIDE, width, own_keys + block * SIDE,
                       params.k_row_stride);
        }
        if (has_tail) {
            add_scores(scores, strip_query + tail_column, width,
                       (threadgroup const half *)tails->keys[own_key], SIDE);
        }
        for (int i = 0; i < STRIP; i++) {
            for (int j = 0; j < OWN_KEY_BLOCKS; j++)
                simdgroup_store(scores[i][j], own_scores + (i * KEYS + j) * SIDE, KEYS);
        }
        threadgroup_barrier(mem_flags::mem_threadgroup);

        if (has_tail)
            load_tail(tails->values, values + tail_column, params.v_row_stride, thread_index);
        float4 scores_left, scores_right;  // of the lane's two keys
        for (int i = 0; i < OWN_ROWS; i++) {
            const int row = own_row + i;
            float2 score = shared->scores[row * LANES + int(lane)];
            if (tile_class == MIXED && row < rows) {
                device const half *cells = mask + long(row) * params.kv_pad + first_key;
                score += float2(((device const half2 *)cells)[lane]);
            }
            scores_left[i] = score.x;
            scores_right[i] = score.y;
        }
        const float4 step_peak = max(peak, simd_max(max(scores_left, scores_right)));
        const bool4 raised = step_peak > peak + SLACK;
        float4 factor = 1.0f;
        if (any(raised)) {
            factor = select(factor, exp(peak - step_peak), raised);
            peak = select(peak, step_peak, raised);
            if (lane == 0)
                atomic_store_explicit(&shared->rescaled_step, step + 1, memory_order_relaxed);
        }
        if (lane == 0) shared->factors[simdgroup] = factor;
        // The sum is of the weights as the product reads them.
        const half4 weights_left = half4(exp(scores_left - peak));
        const half4 weights_right = half4(exp(scores_right - peak));
        for (int i = 0; i < OWN_ROWS; i++) {
            shared->weights[(own_row + i) * LANES + int(lane)] =
                half2(weights_left[i], weights_right[i]);
        }
        weight_sum = weight_sum * factor + simd_sum(float4(weights_left) + float4(weights_right));
        threadgroup_barrier(mem_flags::mem_threadgroup);

        // The next step's first write to what is read here comes after its last barrier but one.
        if (atomic_load_explicit(&shared->rescaled_step, memory_order_relaxed) == step + 1) {
            const float quad_factor = factors[quad_row];
            for (int j = 0; j < OWN_BLOCKS; j++) {
                spread(output[j], own_scores, lane) *= quad_factor;
                gather(output[j], own_scores);
            }
            simdgroup_barrier(mem_flags::mem_threadgroup);  // the next step's scores come here
        }
        Factor weights[STRIP][KEY_BLOCKS];
        for (int i = 0; i < STRIP; i++) {
            for (int j = 0; j < KEY_BLOCKS; j++)
                simdgroup_load(weights[i][j], strip_weights + (i * KEYS + j) * SIDE, KEYS);
        }
        for (int j = 0; j < OWN_BLOCKS; j++) {
            const int block = across + j * ACROSS;
            if (block < whole_blocks) {
                add_values(output[j], weights, values + block * SIDE, params.v_row_stride);
            } else if (block < blocks) {
                add_values(output[j], weights, (threadgroup const half *)tails->values, SIDE);
            }
        }
    }

    threadgroup_barrier(mem_flags::mem_threadgroup);
    if (lane == 0) shared->factors[simdgroup] = weight_sum;
    threadgroup_barrier(mem_flags::mem_threadgroup);

    const float sum = factors[quad_row];
    for (int j = 0; j < OWN_BLOCKS; j++) {
        const float4 quad = spread(output[j], own_scores, lane);
        const int column = (across + j * ACROSS) * SIDE + int(lane) % 2 * 4;
        if (quad_row < rows && column < head_dim) {
            device float *to = out + long(quad_row) * params.n_heads * head_dim + column;
            *(device float4 *)to = sum == 0.0f ? float4(0.0f) : quad / sum;
        }
    }
}

using PrefillAny = decltype(prefill_attention<0>);
using PrefillD64 = decltype(prefill_attention<64>);
using PrefillD80 = decltype(prefill_attention<80>);
using PrefillD96 = decltype(prefill_attention<96>);
using PrefillD128 = decltype(prefill_attention<128>);
using PrefillD256 = decltype(prefill_attention<256>);
// clang-format off: one entry point a line
template [[host_name("flash_attn_prefill_simdgroup_f16")]] [[kernel]] PrefillAny prefill_attention<0>;
template [[host_name("flash_attn_prefill_simdgroup_f16_d64")]] [[kernel]] PrefillD64 prefill_attention<64>;
template [[host_name("flash_attn_prefill_simdgroup_f16_d80")]] [[kernel]] PrefillD80 prefill_attention<80>;
template [[host_name("flash_attn_prefill_simdgroup_f16_d96")]] [[kernel]] PrefillD96 prefill_attention<96>;
template [[host_name("flash_attn_prefill_simdgroup_f16_d128")]] [[kernel]] PrefillD128 prefill_attention<128>;
template [[host_name("flash_attn_prefill_simdgroup_f16_d256")]] [[kernel]] PrefillD256 prefill_attention<256>;
// clang-format on
