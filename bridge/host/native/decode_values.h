// The weighted sums of a tile's values.
#pragma once
#include "decode_weigh.h"

namespace {

// VECTORS vectors of each head's output, in registers. RAGGED: the only one has fewer dims.
template <int HEADS, int VECTORS, bool RAGGED> struct Output {
    wide sums[HEADS][VECTORS];

    INLINE Output(const Tile &tile, uint32_t at) {
        for (int head = 0; head < HEADS; head++) {
            for (int n = 0; n < VECTORS; n++) {
                const float *from = tile.outputs + head * tile.stride + at + n * Wide::LANES;
                sums[head][n] = Wide::load(from) * tile.corrections[head];
            }
        }
    }
    // `from`: the row's values. `rest`: how many dims there are where they are RAGGED.
    INLINE void add_row(const uint16_t *from, size_t ahead, int rest, const float *weights) {
        for (uint32_t n = 0; n < VECTORS * Wide::LANES; n += LINE_HALVES)
            fetch(from + ahead + n);
        fetch(from + ahead + VECTORS * Wide::LANES - 1);  // as of keys
        wide value[VECTORS];
        for (int n = 0; n < VECTORS; n++)
            value[n] =
                RAGGED ? Wide::load_half(from, rest) : Wide::load_half(from + n * Wide::LANES);
        for (int head = 0; head < HEADS; head++) {
            const wide weight = Wide::broadcast(weights[head * MOST_TILE_ROWS]);
            for (int n = 0; n < VECTORS; n++)
                sums[head][n] = Wide::multiply_add(weight, value[n], sums[head][n]);
        }
    }
    INLINE void store(const Tile &tile, uint32_t at) const {
        for (int head = 0; head < HEADS; head++)
            for (int n = 0; n < VECTORS; n++)
                Wide::store(tile.outputs + head * tile.stride + at + n * Wide::LANES,
                            sums[head][n]);
    }
};

// Dims from `at` on, while another tile is weighed.
template <int HEADS, int VECTORS, bool RAGGED = false>
__attribute__((noinline)) void add_dims(const Tile &tile, uint32_t at, Weighing &other) {
    constexpr uint32_t ROWS = Wide::LANES / MOST_HEADS;  // in which as many weights are used
    Output<HEADS, VECTORS, RAGGED> output(tile, at);
    Weighing weighing = other;  // in registers, as are the next
    const size_t stride = tile.values.stride, ahead = tile.values.ahead;
    const int rest = static_cast<int>(tile.head_dim - at);
    const uint16_t *from = tile.values.first + at;
    const float *weights = tile.scores[0], *const end = weights + tile.values.count;
    for (const float *whole = end - tile.values.count % ROWS; weights != whole;) {
        weighing.step();
        for (uint32_t i = 0; i < ROWS; i++, from += stride)
            output.add_row(from, ahead, rest, weights++);
    }
    for (; weights != end; from += stride)
        output.add_row(from, ahead, rest, weights++);
    output.store(tile, at);
    other = weighing;
}

// As many vectors at a time as the registers hold, then half as many.
template <int HEADS, int VECTORS>
INLINE void add_from(const Tile &tile, uint32_t at, Weighing &other) {
    for (; at + VECTORS * Wide::LANES <= tile.head_dim; at += VECTORS * Wide::LANES)
        add_dims<HEADS, VECTORS>(tile, at, other);
    if constexpr (VECTORS > 1) {
        add_from<HEADS, VECTORS / 2>(tile, at, other);
    } else if (at < tile.head_dim) {
        add_dims<HEADS, 1, true>(tile, at, other);
    }
}

// outputs = corrections · outputs + Σ weight · value
inline void add_values(const Tile &tile, Weighing &other) {
    switch (tile.heads) {
    case 1:
        return add_from<1, ACCUMULATORS>(tile, 0, other);
    case 2:
        return add_from<2, ACCUMULATORS / 2>(tile, 0, other);
    case 3:
        return add_from<3, ACCUMULATORS / 4>(tile, 0, other);
    default:
        return add_from<4, ACCUMULATORS / 4>(tile, 0, other);
    }
}

}  // namespace
