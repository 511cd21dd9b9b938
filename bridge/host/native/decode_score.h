// The scores of a tile: q·k of every row.
#pragma once
#include "decode_fold.h"

namespace {

// Where the rows of a block begin, and what is to be multiplied by them.
template <int HEADS> struct Block {
    static constexpr int ROWS = score_rows<HEADS>();

    // Behind the last row: that one again. Its scores are written where nobody reads them.
    INLINE Block(const Tile &tile, uint32_t first)
        : queries(tile.queries), stride(tile.stride), ahead(tile.keys.ahead) {
        const uint32_t last = tile.keys.count - 1;
        for (uint32_t r = 0; r < ROWS; r++)
            row[r] = tile.keys.first + (first + r < last ? first + r : last) * tile.keys.stride;
    }

    // Adds the products of LANES dims.
    INLINE void multiply(uint32_t at, BlockSums<HEADS> &sums) const {
        narrow key[ROWS];
        for (int r = 0; r < ROWS; r++)
            key[r] = Narrow::load_half(row[r] + at);
        add_products(key, at, sums);
    }
    // Of fewer, the last ones of a head.
    INLINE void multiply(uint32_t at, uint32_t dims, BlockSums<HEADS> &sums) const {
        narrow key[ROWS];
        for (int r = 0; r < ROWS; r++)
            key[r] = Narrow::load_half(row[r] + at, static_cast<int>(dims));
        add_products(key, at, sums);
    }
    // The next tile's, as much as is read of this one's in that place.
    INLINE void fetch_lines(uint32_t at) const {
        if (at % LINE_HALVES != 0) return;
        for (int r = 0; r < ROWS; r++)
            fetch(row[r] + ahead + at);
    }
    // In a line more where rows do not begin with one, as in memory that is wrapped.
    INLINE void fetch_last(uint32_t dims) const {
        for (int r = 0; r < ROWS; r++)
            fetch(row[r] + ahead + dims - 1);
    }

    const uint16_t *row[ROWS];
    const float *queries;
    size_t stride, ahead;

  private:
    INLINE void add_products(const narrow (&key)[ROWS], uint32_t at, BlockSums<HEADS> &sums) const {
        for (int head = 0; head < HEADS; head++) {
            const narrow query = Narrow::load(queries + head * stride + at);
            for (int r = 0; r < ROWS; r++) {
                narrow &sum = sums[head * ROWS + r];
                sum = Narrow::multiply_add(query, key[r], sum);
            }
        }
    }
};

// So many dims are multiplied while the block before is folded.
constexpr uint32_t FOLDING_DIMS = 64;

template <int HEADS, int N = 0>
INLINE void multiply_folding(const Block<HEADS> &block, BlockSums<HEADS> &sums,
                             Folding<HEADS> &folding) {
    constexpr int COUNT = FOLDING_DIMS / Narrow::LANES, STEPS = Folding<HEADS>::STEPS;
    if constexpr (N < COUNT) {
        block.multiply(N * Narrow::LANES, sums);
        folding.template steps<N * STEPS / COUNT, (N + 1) * STEPS / COUNT>();
        block.fetch_lines(N * Narrow::LANES);
        multiply_folding<HEADS, N + 1>(block, sums, folding);
    }
}

// DIMS: the head's, where they are known; 0: the tile says.
template <int HEADS, uint32_t DIMS> __attribute__((noinline)) void score_heads(Tile &tile) {
    const uint32_t dims = DIMS != 0 ? DIMS : tile.head_dim;
    const bool folds_meanwhile = dims >= FOLDING_DIMS;
    Folding<HEADS> folding(tile);
    for (uint32_t first = 0; first < tile.keys.count; first += Block<HEADS>::ROWS) {
        const Block<HEADS> block(tile, first);
        BlockSums<HEADS> sums = {};
        uint32_t at = 0;
        if (folds_meanwhile) {
            multiply_folding(block, sums, folding);
            at = FOLDING_DIMS;
        }
        for (; at + Narrow::LANES <= dims; at += Narrow::LANES) {
            block.fetch_lines(at);
            block.multiply(at, sums);
        }
        block.fetch_last(dims);
        if (at < dims) block.multiply(at, dims - at, sums);
        folding.start(sums, first);
        if (!folds_meanwhile) folding.all_steps();
    }
    folding.all_steps();
    folding.write_maxima();
}

template <uint32_t DIMS> void score_dims(Tile &tile) {
    constexpr void (*BY_HEADS[])(Tile &) = {score_heads<1, DIMS>, score_heads<2, DIMS>,
                                            score_heads<3, DIMS>, score_heads<4, DIMS>};
    BY_HEADS[tile.heads - 1](tile);
}

// Fills tile.scores and tile.maxima.
inline void score(Tile &tile) {
    switch (tile.head_dim) {
    case 64:
        return score_dims<64>(tile);
    case 128:
        return score_dims<128>(tile);
    default:
        return score_dims<0>(tile);
    }
}

}  // namespace
