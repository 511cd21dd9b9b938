// The equivalents of the decode kernels: right on every level of this CPU, the same bits for every
// number of threads, and out of the way of launches that are not theirs.
#include "levels.h"
#include "native.h"
#include "native_halves.h"
#include "shader_digests.h"
#include "simt_support.h"

#include <algorithm>
#include <cmath>
#include <memory>
#include <string>
#include <sys/mman.h>
#include <unistd.h>
#include <vector>

namespace {

using native::Level;

const double UNIT_ROUNDOFF = std::ldexp(1.0, -24);

struct Shape {
    uint32_t n_heads, n_kv_heads, head_dim, seq_len;
};

// A launch of a decode kernel and the memory it reads, which ends where the problem does.
struct Problem {
    explicit Problem(const Shape &shape, uint32_t seed = 1)
        : shape(shape), queries(shape.n_heads * shape.head_dim), out(queries.size(), NAN),
          keys(size_t{shape.seq_len} * shape.n_kv_heads * shape.head_dim), values(keys.size()),
          params{shape.n_heads, shape.n_kv_heads, shape.head_dim, shape.n_kv_heads * shape.head_dim,
                 shape.seq_len},
          launch(nullptr, shape.n_heads * 256, 256, {}) {
        for (float &x : queries)
            x = half_to_float(some_half(seed)) * 1.25f;
        for (uint16_t &x : keys)
            x = some_half(seed);
        for (uint16_t &x : values)
            x = some_half(seed);
        set_scale(static_cast<float>(1 / std::sqrt(shape.head_dim)));
        bind(0, queries);
        bind(1, keys);
        bind(2, values);
        bind(3, out);
        launch.buffers[4] = params;
        launch.buffer_lengths[4] = sizeof params;
    }

    void set_scale(float scale) { memcpy(&params[5], &scale, sizeof scale); }

    template <class T> void bind(int index, std::vector<T> &array) {
        launch.buffers[index] = array.data();
        launch.buffer_lengths[index] = array.size() * sizeof(T);
    }

    Shape shape;
    std::vector<float> queries, out;
    std::vector<uint16_t> keys, values;
    uint32_t params[8];
    Launch launch;
};

const native_kernel *find(const char *name) {
    return native_find(name, DIGEST_flash_attention, "");
}

bool run(Problem &problem, uint32_t threads, const char *name = "flash_attention") {
    TestPool pool(threads);
    return native_run(find(name), pool.pool, &problem.launch);
}

// ---- each level ---------------------------------------------------------------------------------

// One level's results of a problem in parts of `part_rows` rows.
std::vector<float> attend(const Level &level, Problem &problem, uint32_t part_rows,
                          uint32_t tile_rows = native::DECODE_MOST_TILE_ROWS) {
    const Shape &shape = problem.shape;
    const uint32_t stride = native::padded(shape.head_dim), row_stride = problem.params[3];
    const uint32_t parts = (shape.seq_len + part_rows - 1) / part_rows;
    std::vector<float> queries(shape.n_heads * stride), outputs(parts * queries.size(), NAN);
    std::vector<float> peaks(parts * shape.n_heads), sums(peaks.size());
    for (uint32_t head = 0; head < shape.n_heads; head++)
        std::copy_n(&problem.queries[head * shape.head_dim], shape.head_dim,
                    &queries[head * stride]);
    float scale;
    memcpy(&scale, &problem.params[5], sizeof scale);
    for (uint32_t i = 0; i < parts; i++) {
        const uint32_t first = i * part_rows;
        native::DecodePart part = {};
        part.queries = queries.data();
        part.keys = &problem.keys[size_t{first} * row_stride];
        part.values = &problem.values[size_t{first} * row_stride];
        part.row_stride = row_stride;
        part.rows = std::min(part_rows, shape.seq_len - first);
        part.tile_rows = tile_rows;
        part.kv_heads = shape.n_kv_heads;
        part.group = shape.n_heads / shape.n_kv_heads;
        part.head_dim = shape.head_dim;
        part.scale = scale * static_cast<float>(M_LOG2E);
        part.peaks = &peaks[i * shape.n_heads];
        part.sums = &sums[i * shape.n_heads];
        part.outputs = &outputs[i * queries.size()];
        level.attend(part);
    }
    std::vector<float> out(problem.out.size(), NAN);
    level.merge({peaks.data(), sums.data(), outputs.data(), parts, shape.n_heads, 0, shape.n_heads,
                 shape.head_dim, out.data()});
    return out;
}

void check_accuracy(const Problem &problem, const std::vector<float> &out, const char *level) {
    const Shape &shape = problem.shape;
    const uint32_t group = shape.n_heads / shape.n_kv_heads, dim = shape.head_dim;
    float scale;
    memcpy(&scale, &problem.params[5], sizeof scale);
    std::vector<double> weights(shape.seq_len);
    for (uint32_t head = 0; head < shape.n_heads; head++) {
        const float *query = &problem.queries[head * dim];
        double peak = -INFINITY, total = 0, most = 0;
        for (uint32_t row = 0; row < shape.seq_len; row++) {
            const uint16_t *key =
                &problem.keys[(size_t{row} * shape.n_kv_heads + head / group) * dim];
            double sum = 0, magnitude = 0;
            for (uint32_t i = 0; i < dim; i++) {
                const double product = double{query[i]} * half_to_float(key[i]);
                sum += product;
                magnitude += std::fabs(product);
            }
            weights[row] = scale * sum;
            peak = std::max(peak, weights[row]);
            most = std::max(most, std::fabs(scale) * magnitude);
        }
        for (double &weight : weights)
            total += weight = std::exp(weight - peak);
        for (uint32_t i = 0; i < dim; i++) {
            double sum = 0, magnitude = 0;
            for (uint32_t row = 0; row < shape.seq_len; row++) {
                const size_t at = (size_t{row} * shape.n_kv_heads + head / group) * dim + i;
                sum += weights[row] / total * half_to_float(problem.values[at]);
                magnitude += weights[row] / total * std::fabs(half_to_float(problem.values[at]));
            }
            const double bound =
                UNIT_ROUNDOFF * (8 * most + 8 * std::sqrt(shape.seq_len) + 64) * magnitude +
                std::ldexp(1.0, -126);
            const double error = std::fabs(out[head * dim + i] - sum);
            if (error <= bound) continue;
            fprintf(stderr, "%s: head %u of %u, dim %u of %u, %u rows: %g off, %g are allowed\n",
                    level, head, shape.n_heads, i, dim, shape.seq_len, error, bound);
            exit(1);
        }
    }
}

void every_shape_is_accurate(const Level &level) {
    for (uint32_t head_dim = 4; head_dim <= 128; head_dim += 4) {
        for (uint32_t rows : {1u, 3u, 15u, 16u, 17u, 63u, 64u, 65u, 200u}) {
            Problem problem({7, 1, head_dim, rows}, head_dim + rows);
            check_accuracy(problem, attend(level, problem, 96), level.name);
        }
    }
    // Parts of several tiles.
    for (uint32_t head_dim : {8u, 60u, 64u, 84u, 128u}) {
        for (uint32_t rows : {256u, 257u, 600u}) {
            Problem problem({6, 2, head_dim, rows}, rows);
            check_accuracy(problem, attend(level, problem, 600), level.name);
            check_accuracy(problem, attend(level, problem, 600, 64), level.name);
        }
    }
    for (uint32_t group : {1u, 2u, 3u, 4u, 5u, 6u, 9u}) {
        Problem problem({3 * group, 3, 64, 300}, group);
        check_accuracy(problem, attend(level, problem, 256), level.name);
        problem.set_scale(-3.25f);
        check_accuracy(problem, attend(level, problem, 64), level.name);
    }
}

void one_row_is_returned_exactly(const Level &level) {
    for (uint32_t head_dim = 4; head_dim <= 128; head_dim += 4) {
        Problem problem({6, 2, head_dim, 1}, head_dim);
        const std::vector<float> out = attend(level, problem, 1);
        for (uint32_t i = 0; i < out.size(); i++) {
            const uint32_t kv_head = i / head_dim / 3, dim = i % head_dim;
            CHECK(out[i] == half_to_float(problem.values[kv_head * head_dim + dim]));
        }
    }
}

// Whatever heads it is computed beside.
void a_head_alone_gives_the_same_bits(const Level &level) {
    for (uint32_t head_dim : {20u, 64u, 124u}) {
        Problem whole({14, 2, head_dim, 150}, head_dim);
        const std::vector<float> out = attend(level, whole, 100);
        for (uint32_t head = 0; head < 14; head++) {
            Problem alone({1, 1, head_dim, 150});
            std::copy_n(&whole.queries[head * head_dim], head_dim, alone.queries.begin());
            for (uint32_t row = 0; row < 150; row++) {
                const size_t from = (row * 2 + head / 7) * head_dim, to = row * head_dim;
                std::copy_n(&whole.keys[from], head_dim, &alone.keys[to]);
                std::copy_n(&whole.values[from], head_dim, &alone.values[to]);
            }
            const std::vector<float> same = attend(level, alone, 100);
            CHECK(memcmp(&out[head * head_dim], same.data(), head_dim * sizeof(float)) == 0);
        }
    }
}

void every_half_is_converted(const Level &level) {
    Problem problem({1, 1, 64, 1});
    for (uint32_t first = 0; first < 0x10000; first += 64) {
        for (uint32_t i = 0; i < 64; i++)
            problem.values[i] = static_cast<uint16_t>(first + i);
        const std::vector<float> out = attend(level, problem, 1);
        for (uint32_t i = 0; i < 64; i++) {
            const float expected = half_to_float(static_cast<uint16_t>(first + i));
            CHECK(std::isnan(expected) ? std::isnan(out[i]) : out[i] == expected);
        }
    }
}

// Weights far below the smallest normal number count as much as they can.
void weights_underflow_gradually(const Level &level) {
    for (int power : {-1, -10, -125, -126, -127, -140, -149}) {
        Problem problem({1, 1, 4, 2});
        problem.set_scale(static_cast<float>(power * M_LN2));
        problem.queries.assign(4, 0);
        problem.queries[0] = 1;
        problem.keys.assign(8, 0);
        problem.keys[4] = 0x3c00;  // 1
        problem.values.assign(8, 0);
        problem.values[4] = 0x7800;  // 2^15
        check_accuracy(problem, attend(level, problem, 2), level.name);
    }
}

// ---- launches -----------------------------------------------------------------------------------

void launches_are_accurate() {
    struct {
        const char *name;
        uint32_t head_dim;
    } kernels[] = {{"flash_attention", 80},
                   {"flash_attention", 128},
                   {"flash_attention_hd64", 64},
                   {"flash_attention_hd128", 128}};
    for (const auto &kernel : kernels) {
        for (uint32_t rows : {1u, 256u, 257u, 1000u}) {
            Problem problem({8, 2, kernel.head_dim, rows}, rows);
            CHECK(run(problem, 2, kernel.name));
            check_accuracy(problem, problem.out, kernel.name);
        }
    }
}

void threads_do_not_change_bits() {
    for (const Shape &shape : {Shape{8, 2, 128, 3000}, {1, 1, 64, 20000}, {32, 32, 80, 700}}) {
        Problem problem(shape);
        CHECK(run(problem, 1));
        const std::vector<float> expected = problem.out;
        for (uint32_t threads : {2u, 3u, 7u}) {
            std::fill(problem.out.begin(), problem.out.end(), NAN);
            CHECK(run(problem, threads));
            CHECK(memcmp(problem.out.data(), expected.data(), expected.size() * sizeof(float)) ==
                  0);
        }
    }
}

void no_rows_give_zeros() {
    Problem problem({4, 2, 64, 0});
    CHECK(run(problem, 2));
    CHECK(std::count(problem.out.begin(), problem.out.end(), 0.0f) == 256);
}

void a_wider_head_is_left_alone() {
    Problem problem({1, 1, 132, 2});
    CHECK(run(problem, 1));
    CHECK(std::all_of(problem.out.begin(), problem.out.end(), [](float x) { return x != x; }));
}

void specialised_kernels_ignore_the_word() {
    Problem problem({4, 2, 64, 100});
    CHECK(run(problem, 1));
    const std::vector<float> expected = problem.out;
    problem.params[2] = 4;
    CHECK(run(problem, 1, "flash_attention_hd64"));
    CHECK(problem.out == expected);
}

// Each broken in one way; `out` must not be written.
void other_launches_are_not_served() {
    void (*const breaks[])(Problem &) = {
        [](Problem &p) { p.launch.threads[0] -= 256; },
        [](Problem &p) { p.launch.threads[1] = 2; },
        [](Problem &p) { p.launch.threads_per_threadgroup[0] = 128; },
        [](Problem &p) { p.params[1] = 0; },
        [](Problem &p) { p.params[1] = 3; },
        [](Problem &p) { p.params[2] = 0; },
        [](Problem &p) { p.params[2] = 62; },
        [](Problem &p) { p.params[3] = 0xffffffff; },
        [](Problem &p) { p.params[4] = 0xffffffff; },
        [](Problem &p) { p.params[3] = p.params[4] = 0xffffffff; },
        [](Problem &p) { p.launch.buffer_lengths[0] -= 4; },
        [](Problem &p) { p.launch.buffer_lengths[1] -= 2; },
        [](Problem &p) { p.launch.buffer_lengths[2] -= 2; },
        [](Problem &p) { p.launch.buffer_lengths[3] -= 4; },
        [](Problem &p) { p.launch.buffer_lengths[4] = 28; },
    };
    for (void (*break_it)(Problem &) : breaks) {
        Problem problem({4, 2, 64, 100});
        break_it(problem);
        CHECK(!run(problem, 1));
        CHECK(std::all_of(problem.out.begin(), problem.out.end(), [](float x) { return x != x; }));
    }
}

void memory_that_is_not_there_is_not_served() {
    const size_t page = static_cast<size_t>(sysconf(_SC_PAGESIZE));
    Problem problem({4, 2, 128, 2000});
    const size_t bytes = (problem.launch.buffer_lengths[1] + page - 1) / page * page;
    void *cache = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    CHECK(cache != MAP_FAILED);
    CHECK(mprotect(static_cast<char *>(cache) + bytes / 2, page, PROT_NONE) == 0);
    problem.launch.buffers[1] = cache;
    for (uint32_t threads : {1u, 3u})
        CHECK(!run(problem, threads));
    munmap(cache, bytes);
}

void larger_problems_take_longer() {
    Problem small({1, 1, 64, 16}), large({32, 8, 128, 4000}), other({4, 2, 64, 100});
    const native_kernel *kernel = find("flash_attention");
    const uint64_t brief = native_estimate(kernel, &small.launch);
    CHECK(brief < 2000);
    CHECK(native_estimate(kernel, &large.launch) > 100 * brief);
    other.launch.threads[1] = 2;
    CHECK(native_estimate(kernel, &other.launch) == UINT64_MAX);
}

void only_the_shipped_text_has_equivalents() {
    std::string other = DIGEST_flash_attention;
    other.back() = other.back() == '0' ? '1' : '0';
    CHECK(find("flash_attention") != nullptr);
    CHECK(find("flash_attention_hd96") == nullptr);
    CHECK(native_find("flash_attention", other.c_str(), "") == nullptr);
}

}  // namespace

int main() {
    CHECK(!native::levels().empty());
    for (const Level *level : native::levels()) {
        every_shape_is_accurate(*level);
        one_row_is_returned_exactly(*level);
        a_head_alone_gives_the_same_bits(*level);
        every_half_is_converted(*level);
        weights_underflow_gradually(*level);
    }
    launches_are_accurate();
    threads_do_not_change_bits();
    no_rows_give_zeros();
    a_wider_head_is_left_alone();
    specialised_kernels_ignore_the_word();
    other_launches_are_not_served();
    memory_that_is_not_there_is_not_served();
    larger_problems_take_longer();
    only_the_shipped_text_has_equivalents();
}
