#include "prefill_problem.h"

#include <cstring>

namespace native {
namespace {

constexpr uint32_t SIMDGROUPS = 8, SIMDGROUP_THREADS = 32;
constexpr uint32_t HEAD_DIM_UNIT = 4;
// Up to here a tile of query rows has a block's lanes; above, half of them.
constexpr uint32_t NARROW_HEAD_DIM = 256;
constexpr uint32_t SIMDGROUP_MAX_HEAD_DIM = NARROW_HEAD_DIM;
// The side of the blocks that simdgroup products are made of, and the tails of keys and values
// where head_dim ends within one.
constexpr uint32_t BLOCK = 8, TAILS_BYTES = 2 * PREFILL_STEP_KEYS * BLOCK * 2;

enum Binding { PARAMS, QUERIES, KEYS, VALUES, MASK, CLASSES, OUT };

// As the host packs them. Strides are in elements.
struct Params {
    int32_t rows, n_heads, n_kv_heads, kv_pad;
    int32_t q_row_stride, q_head_stride, k_row_stride, k_head_stride, v_row_stride, v_head_stride;
    int32_t mask_row_stride;  // of the tensor kernels; of the others head_dim
    float scale;
};
static_assert(sizeof(Params) == 48, "twelve words");

bool read_params(const simt_launch &launch, Params &params) {
    if (launch.buffer_lengths[PARAMS] < sizeof params) return false;
    std::memcpy(&params, launch.buffers[PARAMS], sizeof params);
    return params.rows > 0 && params.n_heads > 0 && params.n_kv_heads > 0 && params.kv_pad > 0 &&
           params.n_heads % params.n_kv_heads == 0 && params.kv_pad % PREFILL_STEP_KEYS == 0 &&
           params.q_row_stride >= 0 && params.q_head_stride >= 0 && params.k_row_stride >= 0 &&
           params.k_head_stride >= 0 && params.v_row_stride >= 0 && params.v_head_stride >= 0 &&
           params.mask_row_stride >= 0;
}

PrefillProblem problem_of(const simt_launch &launch, const Params &params, uint32_t head_dim) {
    PrefillProblem problem = {};
    problem.queries = static_cast<const float *>(launch.buffers[QUERIES]);
    problem.keys = static_cast<const uint16_t *>(launch.buffers[KEYS]);
    problem.values = static_cast<const uint16_t *>(launch.buffers[VALUES]);
    problem.mask = static_cast<const uint16_t *>(launch.buffers[MASK]);
    problem.classes = static_cast<const uint8_t *>(launch.buffers[CLASSES]);
    problem.out = static_cast<float *>(launch.buffers[OUT]);
    problem.rows = static_cast<uint32_t>(params.rows);
    problem.n_heads = static_cast<uint32_t>(params.n_heads);
    problem.n_kv_heads = static_cast<uint32_t>(params.n_kv_heads);
    problem.head_dim = head_dim;
    problem.tile_rows = PREFILL_BLOCK_LANES / (head_dim <= NARROW_HEAD_DIM ? 1 : 2);
    problem.steps = static_cast<uint32_t>(params.kv_pad) / PREFILL_STEP_KEYS;
    problem.q_row_stride = static_cast<size_t>(params.q_row_stride);
    problem.q_head_stride = static_cast<size_t>(params.q_head_stride);
    problem.k_row_stride = static_cast<size_t>(params.k_row_stride);
    problem.k_head_stride = static_cast<size_t>(params.k_head_stride);
    problem.v_row_stride = static_cast<size_t>(params.v_row_stride);
    problem.v_head_stride = static_cast<size_t>(params.v_head_stride);
    problem.mask_row_stride = static_cast<size_t>(params.mask_row_stride);
    problem.scale = params.scale;
    return problem;
}

// Queries and weights in half, scores in float, a factor of each row, and a word.
uint32_t threadgroup_bytes(uint32_t queries, uint32_t width) {
    return queries * (width * 2 + PREFILL_STEP_KEYS * (2 + 4) + 4) + 4;
}

uint32_t tiles(const PrefillProblem &problem) {
    return (problem.rows - 1) / problem.tile_rows + 1;
}

bool is_grid(const simt_launch &launch, const PrefillProblem &problem, uint32_t memory) {
    const uint32_t *threads = launch.threads, *size = launch.threads_per_threadgroup;
    return threads[0] == uint64_t{tiles(problem)} * SIMDGROUP_THREADS &&
           threads[1] == uint64_t{problem.n_heads} * SIMDGROUPS && threads[2] == 1 &&
           size[0] == SIMDGROUP_THREADS && size[1] == SIMDGROUPS && size[2] == 1 &&
           launch.threadgroup_memory[0] >= memory;
}

// Whether `rows` rows of `heads` heads lie within what is bound. All numbers are below 2^31.
bool holds(const simt_launch &launch, Binding index, uint64_t rows, uint64_t row_stride,
           uint64_t heads, uint64_t head_stride, uint64_t width, uint64_t element_bytes) {
    const uint64_t elements = (rows - 1) * row_stride + (heads - 1) * head_stride + width;
    return elements <= launch.buffer_lengths[index] / element_bytes;
}

bool is_everything_there(const simt_launch &launch, const PrefillProblem &problem) {
    const uint64_t keys = uint64_t{problem.steps} * PREFILL_STEP_KEYS, width = problem.head_dim;
    const uint64_t row = uint64_t{problem.n_heads} * width;  // of the output
    return holds(launch, QUERIES, problem.rows, problem.q_row_stride, problem.n_heads,
                 problem.q_head_stride, width, sizeof(float)) &&
           holds(launch, KEYS, keys, problem.k_row_stride, problem.n_kv_heads,
                 problem.k_head_stride, width, sizeof(uint16_t)) &&
           holds(launch, VALUES, keys, problem.v_row_stride, problem.n_kv_heads,
                 problem.v_head_stride, width, sizeof(uint16_t)) &&
           holds(launch, MASK, problem.rows, problem.mask_row_stride, 1, 0, keys,
                 sizeof(uint16_t)) &&
           holds(launch, CLASSES, tiles(problem), problem.steps, 1, 0, problem.steps, 1) &&
           launch.buffer_lengths[OUT] / sizeof(float) / row >= problem.rows;
}

}  // namespace

bool read_prefill_tensor(const simt_launch &launch, uint32_t head_dim, PrefillProblem &out) {
    Params params;
    if (!read_params(launch, params)) return false;
    out = problem_of(launch, params, head_dim);
    return is_grid(launch, out, threadgroup_bytes(out.tile_rows, head_dim)) &&
           is_everything_there(launch, out);
}

bool read_prefill_simdgroup(const simt_launch &launch, uint32_t head_dim, PrefillProblem &out) {
    Params params;
    if (!read_params(launch, params)) return false;
    if (head_dim == 0) head_dim = static_cast<uint32_t>(params.mask_row_stride);
    if (head_dim == 0 || head_dim > SIMDGROUP_MAX_HEAD_DIM || head_dim % HEAD_DIM_UNIT != 0)
        return false;
    params.mask_row_stride = params.kv_pad;
    out = problem_of(launch, params, head_dim);
    const uint32_t width = (head_dim + BLOCK - 1) / BLOCK * BLOCK;
    const uint32_t tails = width == head_dim ? 0 : TAILS_BYTES;
    return is_grid(launch, out, threadgroup_bytes(out.tile_rows, width) + tails) &&
           is_everything_there(launch, out);
}

}  // namespace native
