// What a launch of a decode kernel asks for, once it is known to be one that can be served.
#pragma once
#include "simt.h"

namespace native {

struct DecodeProblem {
    const float *queries;    // [n_heads][head_dim]
    const uint16_t *keys;    // f16 [seq_len][row_stride]
    const uint16_t *values;  // likewise
    float *out;              // [n_heads][head_dim]
    uint32_t n_heads, n_kv_heads, head_dim, seq_len;
    uint32_t row_stride;  // elements
    float scale;          // of the scores

    uint32_t group() const { return n_heads / n_kv_heads; }
};

enum class Served {
    YES,
    NOTHING_TO_DO,  // the kernel returns at once
    NO,             // not as the contract says: whoever runs the kernel itself shows what happens
};

// `head_dim`: known at compile time, or 0.
Served read_decode_problem(const simt_launch &launch, uint32_t head_dim, DecodeProblem &out);

}  // namespace native
