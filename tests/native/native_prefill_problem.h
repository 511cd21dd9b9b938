// Prefill problems as launches, and what comes out of them in double.
#pragma once
#include "mask_tiles_part.h"
#include "native_halves.h"
#include "prefill_part.h"
#include "simt_support.h"

#include <vector>

using native::TILE_MIXED;
using native::TILE_OPEN;
using native::TILE_SKIP;

constexpr uint16_t HIDDEN = 0xfc00;  // -inf
constexpr uint16_t NOT_A_NUMBER = 0x7e00;

enum class Family { TENSOR, SIMDGROUP };

struct Shape {
    uint32_t rows, n_heads, n_kv_heads, head_dim, steps;
};

// The memory ends where the problem does.
struct Problem {
    enum Word { ROWS, HEADS, KV_HEADS, KV_PAD, Q_ROW, Q_HEAD, K_ROW, K_HEAD, V_ROW, V_HEAD, M_ROW };

    explicit Problem(const Shape &shape, uint32_t seed = 1, Family family = Family::TENSOR)
        : shape(shape), family(family), tile_rows(shape.head_dim > 256 ? 16 : 32),
          tiles((shape.rows - 1) / tile_rows + 1), keys(shape.steps * native::PREFILL_STEP_KEYS),
          queries(size_t{shape.rows} * shape.n_heads * shape.head_dim), out(queries.size(), NAN),
          k(size_t{keys} * shape.n_kv_heads * shape.head_dim), v(k.size()),
          mask(size_t{shape.rows} * keys), classes(size_t{tiles} * shape.steps, TILE_OPEN),
          launch(nullptr, 1, 1, {}) {
        const int32_t dim = static_cast<int32_t>(shape.head_dim);
        const int32_t q_row = static_cast<int32_t>(shape.n_heads) * dim;
        const int32_t kv_row = static_cast<int32_t>(shape.n_kv_heads) * dim;
        const int32_t words[] = {static_cast<int32_t>(shape.rows),
                                 static_cast<int32_t>(shape.n_heads),
                                 static_cast<int32_t>(shape.n_kv_heads),
                                 static_cast<int32_t>(keys),
                                 q_row,
                                 dim,
                                 kv_row,
                                 dim,
                                 kv_row,
                                 dim,
                                 family == Family::TENSOR ? static_cast<int32_t>(keys) : dim};
        memcpy(params, words, sizeof words);
        set_scale(static_cast<float>(1 / std::sqrt(shape.head_dim)));
        for (float &x : queries)
            x = half_to_float(some_half(seed)) * 1.25f;
        for (std::vector<uint16_t> *halves : {&k, &v})
            for (uint16_t &x : *halves)
                x = some_half(seed);
        draw_mask(seed);
        bind(1, queries);
        bind(2, k);
        bind(3, v);
        bind(4, mask);
        bind(5, classes);
        bind(6, out);
        launch.buffers[0] = params;
        launch.buffer_lengths[0] = sizeof params;
        launch.set(tiles * 32, shape.n_heads * 8, 1, 32, 8, 1);
        launch.threadgroup_memory[0] = threadgroup_bytes();
    }

    // As the host sets it aside for a width of whole blocks of 8, of which one needs tails.
    uint32_t threadgroup_bytes() const {
        if (family == Family::TENSOR) return shape.head_dim > 256 ? 22608 : 28816;
        const bool has_tail = shape.head_dim % 8 != 0;
        return 12432 + (shape.head_dim + has_tail * 4) * 64 + has_tail * 2048;
    }

    void set_scale(float scale) { memcpy(&params[11], &scale, sizeof scale); }
    float scale() const {
        float scale;
        memcpy(&scale, &params[11], sizeof scale);
        return scale;
    }

    // Tiles of all classes, and rows that see nothing in one of the mixed tiles.
    void draw_mask(uint32_t &seed) {
        for (uint32_t tile = 0; tile < tiles; tile++) {
            for (uint32_t step = 0; step < shape.steps; step++) {
                const uint8_t tile_class = static_cast<uint8_t>(some_half(seed) % 3);
                classes[tile * shape.steps + step] = tile_class;
                for_cells(tile, step, [&](uint16_t &cell) {
                    const uint16_t drawn = some_half(seed);
                    cell = tile_class == TILE_SKIP || drawn % 4 == 0 ? HIDDEN : drawn;
                    if (tile_class == TILE_OPEN) cell = 0;
                });
            }
        }
    }

    template <class Function> void for_cells(uint32_t tile, uint32_t step, Function function) {
        for (uint32_t row = tile * tile_rows; row < std::min((tile + 1) * tile_rows, shape.rows);
             row++)
            for (uint32_t i = 0; i < native::PREFILL_STEP_KEYS; i++)
                function(mask[size_t{row} * keys + step * native::PREFILL_STEP_KEYS + i]);
    }

    template <class T> void bind(int index, std::vector<T> &array) {
        launch.buffers[index] = array.data();
        launch.buffer_lengths[index] = array.size() * sizeof(T);
    }

    // The sum of the squares of what `result` is off, over that of what it should be.
    double error(const std::vector<float> &result) const {
        double errors = 0, squares = 0;
        for (uint32_t row = 0; row < shape.rows; row++) {
            for (uint32_t head = 0; head < shape.n_heads; head++) {
                const std::vector<double> expected = rounded(row, head);
                for (uint32_t i = 0; i < shape.head_dim; i++) {
                    const double actual = result[index(row, head) + i];
                    errors += (actual - expected[i]) * (actual - expected[i]);
                    squares += expected[i] * expected[i];
                }
            }
        }
        return squares == 0 ? errors : errors / squares;
    }

    size_t index(uint32_t row, uint32_t head) const {
        return (size_t{row} * shape.n_heads + head) * shape.head_dim;
    }

    // One row of a head's output: in double, but rounded where the kernel rounds to half.
    std::vector<double> rounded(uint32_t row, uint32_t head) const {
        const uint32_t dim = shape.head_dim, kv_head = head / (shape.n_heads / shape.n_kv_heads);
        std::vector<double> output(dim), query(dim);
        for (uint32_t i = 0; i < dim; i++)
            query[i] = rounded_to_half(queries[index(row, head) + i] * scale());
        double peak = -1e38, sum = 0;
        for (uint32_t step = 0; step < shape.steps; step++) {
            const uint8_t tile_class = classes[row / tile_rows * shape.steps + step];
            if (tile_class == TILE_SKIP) continue;
            double scores[native::PREFILL_STEP_KEYS], most = peak;
            for (uint32_t i = 0; i < native::PREFILL_STEP_KEYS; i++) {
                const uint32_t key = step * native::PREFILL_STEP_KEYS + i;
                scores[i] = 0;
                for (uint32_t n = 0; n < dim; n++)
                    scores[i] += query[n] * half_to_float(k[kv_index(key, kv_head) + n]);
                if (tile_class == TILE_MIXED)
                    scores[i] += half_to_float(mask[size_t{row} * keys + key]);
                most = std::max(most, scores[i]);
            }
            const double factor = most > peak + 8 ? std::exp(peak - most) : 1;
            if (most > peak + 8) peak = most;
            sum *= factor;
            for (double &x : output)
                x *= factor;
            for (uint32_t i = 0; i < native::PREFILL_STEP_KEYS; i++) {
                const double weight = rounded_to_half(std::exp(scores[i] - peak));
                const uint32_t key = step * native::PREFILL_STEP_KEYS + i;
                sum += weight;
                for (uint32_t n = 0; n < dim && weight != 0; n++)
                    output[n] += weight * half_to_float(v[kv_index(key, kv_head) + n]);
            }
        }
        for (double &x : output)
            x = sum == 0 ? 0 : x / sum;
        return output;
    }

    size_t kv_index(uint32_t key, uint32_t kv_head) const {
        return (size_t{key} * shape.n_kv_heads + kv_head) * shape.head_dim;
    }

    Shape shape;
    Family family;
    uint32_t tile_rows, tiles, keys;
    std::vector<float> queries, out;
    std::vector<uint16_t> k, v, mask;
    std::vector<uint8_t> classes;
    int32_t params[12];
    Launch launch;
};
