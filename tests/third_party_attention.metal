// The plainest shader with the entry points of decode attention: one thread does one head, in three
// passes over the cache. MARKED adds a quarter to each output, so that a test can tell it ran.
#include <metal_stdlib>
using namespace metal;

struct Params {
    uint n_heads, n_kv_heads, head_dim, kv_dim, seq_len, scale_bits, unused[2];
};

static float score(device const float *query, device const half *key, constant Params &params) {
    float sum = 0;
    for (uint d = 0; d < params.head_dim; d++)
        sum += query[d] * float(key[d]);
    return sum * as_type<float>(params.scale_bits);
}

static void attend(device const float *q, device const half *k, device const half *v,
                   device float *out, constant Params &params, uint head) {
    const uint first = head / (params.n_heads / params.n_kv_heads) * params.head_dim;
    q += head * params.head_dim;
    out += head * params.head_dim;
    float most = -INFINITY;
    for (uint row = 0; row < params.seq_len; row++)
        most = max(most, score(q, k + row * params.kv_dim + first, params));
    float total = 0;
    for (uint d = 0; d < params.head_dim; d++)
        out[d] = 0;
    for (uint row = 0; row < params.seq_len; row++) {
        const float weight = exp(score(q, k + row * params.kv_dim + first, params) - most);
        total += weight;
        for (uint d = 0; d < params.head_dim; d++)
            out[d] += weight * float(v[row * params.kv_dim + first + d]);
    }
    for (uint d = 0; d < params.head_dim; d++) {
        out[d] = params.seq_len ? out[d] / total : 0;
#ifdef MARKED
        out[d] += 0.25f;
#endif
    }
}

kernel void flash_attention(device const float *q [[buffer(0)]], device const half *k [[buffer(1)]],
                            device const half *v [[buffer(2)]], device float *out [[buffer(3)]],
                            constant Params &params [[buffer(4)]],
                            uint head [[threadgroup_position_in_grid]],
                            uint thread_index [[thread_index_in_threadgroup]]) {
    if (thread_index == 0) attend(q, k, v, out, params, head);
}

kernel void flash_attention_hd64(device const float *q [[buffer(0)]],
                                 device const half *k [[buffer(1)]],
                                 device const half *v [[buffer(2)]],
                                 device float *out [[buffer(3)]],
                                 constant Params &params [[buffer(4)]],
                                 uint head [[threadgroup_position_in_grid]],
                                 uint thread_index [[thread_index_in_threadgroup]]) {
    if (thread_index == 0) attend(q, k, v, out, params, head);
}

kernel void flash_attention_hd128(device const float *q [[buffer(0)]],
                                  device const half *k [[buffer(1)]],
                                  device const half *v [[buffer(2)]],
                                  device float *out [[buffer(3)]],
                                  constant Params &params [[buffer(4)]],
                                  uint head [[threadgroup_position_in_grid]],
                                  uint thread_index [[thread_index_in_threadgroup]]) {
    if (thread_index == 0) attend(q, k, v, out, params, head);
}
