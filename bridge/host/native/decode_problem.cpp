#include "decode_problem.h"
#include "decode_part.h"

#include <cstring>

namespace native {
namespace {

constexpr uint32_t THREADS = 256;  // per threadgroup, one threadgroup per query head
constexpr uint32_t HEAD_DIM_UNIT = 4;

enum Binding { QUERIES, KEYS, VALUES, OUT, PARAMS };

// As the host packs them.
struct Params {
    uint32_t n_heads, n_kv_heads, head_dim, kv_dim, seq_len;
    float scale;
    uint32_t reserved[2];
};
static_assert(sizeof(Params) == 32, "eight words");

bool is_grid(const simt_launch &launch, uint32_t n_heads) {
    const uint32_t *threads = launch.threads, *size = launch.threads_per_threadgroup;
    return threads[0] == uint64_t{n_heads} * THREADS && threads[1] == 1 && threads[2] == 1 &&
           size[0] == THREADS && size[1] == 1 && size[2] == 1;
}

// Whether `rows` rows of `width` elements, `stride` apart, lie within what is bound.
bool holds(const simt_launch &launch, Binding index, uint64_t rows, uint64_t stride, uint64_t width,
           uint64_t element_bytes) {
    const uint64_t elements = launch.buffer_lengths[index] / element_bytes;
    if (rows == 0) return true;
    if (width > elements) return false;
    return stride == 0 || rows - 1 <= (elements - width) / stride;
}

bool is_shape(const Params &params, uint32_t head_dim) {
    return params.n_heads != 0 && params.n_kv_heads != 0 && head_dim != 0 &&
           params.n_heads % params.n_kv_heads == 0 && head_dim % HEAD_DIM_UNIT == 0;
}

bool is_everything_there(const simt_launch &launch, const Params &params, uint32_t head_dim) {
    const uint64_t token = head_dim, cache_row = uint64_t{params.n_kv_heads} * head_dim;
    return holds(launch, QUERIES, params.n_heads, token, token, sizeof(float)) &&
           holds(launch, KEYS, params.seq_len, params.kv_dim, cache_row, sizeof(uint16_t)) &&
           holds(launch, VALUES, params.seq_len, params.kv_dim, cache_row, sizeof(uint16_t)) &&
           holds(launch, OUT, params.n_heads, token, token, sizeof(float));
}

}  // namespace

Served read_decode_problem(const simt_launch &launch, uint32_t head_dim, DecodeProblem &out) {
    Params params;
    if (launch.buffer_lengths[PARAMS] < sizeof params) return Served::NO;
    std::memcpy(&params, launch.buffers[PARAMS], sizeof params);
    if (head_dim == 0) head_dim = params.head_dim;
    if (head_dim > DECODE_MAX_HEAD_DIM) return Served::NOTHING_TO_DO;
    if (!is_grid(launch, params.n_heads) || !is_shape(params, head_dim) ||
        !is_everything_there(launch, params, head_dim))
        return Served::NO;
    out.queries = static_cast<const float *>(launch.buffers[QUERIES]);
    out.keys = static_cast<const uint16_t *>(launch.buffers[KEYS]);
    out.values = static_cast<const uint16_t *>(launch.buffers[VALUES]);
    out.out = static_cast<float *>(launch.buffers[OUT]);
    out.n_heads = params.n_heads;
    out.n_kv_heads = params.n_kv_heads;
    out.head_dim = head_dim;
    out.seq_len = params.seq_len;
    out.row_stride = params.kv_dim;
    out.scale = params.scale;
    return Served::YES;
}

}  // namespace native
