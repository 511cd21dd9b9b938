// The end of dot products: sums over the lanes of accumulators.
#pragma once
#include "decode_tile.h"

namespace {

// Rows that are scored at a time, every query head's score in an accumulator of its own. More would
// be more streams through memory than processors follow.
template <int HEADS> constexpr int score_rows() {
    constexpr int ROWS = ACCUMULATORS / (HEADS == 3 ? 4 : HEADS);
    return ROWS < 8 ? ROWS : 8;
}
// [head][row]
template <int HEADS> using BlockSums = narrow[HEADS * score_rows<HEADS>()];

// Adds up the lanes of a block's accumulators, in STEPS steps that go between the multiplications
// of the next block: one after the other they would leave the multipliers waiting.
template <int HEADS> class Folding {
  public:
    static constexpr int ROWS = score_rows<HEADS>();
    static constexpr int STEPS = (HEADS * ROWS + Narrow::LANES - 1) / Narrow::LANES * Narrow::LANES;

    explicit Folding(Tile &tile) : tile_(tile), scale_(Narrow::broadcast(tile.scale)) {
        for (narrow &maximum : maxima_)
            maximum = Narrow::broadcast(-__builtin_inff());
        // No scores: what is folded before the first block.
        for (auto &sum : sums_)
            Narrow::store(sum, Narrow::broadcast(__builtin_nanf("")));
    }

    INLINE void start(const BlockSums<HEADS> &sums, uint32_t first_row) {
        for (int i = 0; i < HEADS * ROWS; i++)
            Narrow::store(sums_[i], sums[i]);
        first_row_ = first_row;
    }

    template <int FIRST, int END> INLINE void steps() {
        if constexpr (FIRST < END) {
            step<FIRST>();
            steps<FIRST + 1, END>();
        }
    }
    INLINE void all_steps() { steps<0, STEPS>(); }

    // After the last block.
    void write_maxima() {
        float lanes[STEPS];
        for (int i = 0; i < STEPS; i += Narrow::LANES)
            Narrow::store(lanes + i, maxima_[i / Narrow::LANES]);
        for (int head = 0; head < HEADS; head++) {
            float *most = lanes + head * ROWS;
            for (int half = ROWS / 2; half > 0; half /= 2)
                for (int i = 0; i < half; i++)
                    most[i] = most[i + half] > most[i] ? most[i + half] : most[i];
            tile_.maxima[head] = most[0];
        }
    }

  private:
    template <int STEP> INLINE void step() {
        constexpr int LANES = Narrow::LANES, GROUP = STEP / LANES, I = STEP % LANES;
        if constexpr (I < LANES / 2) {
            const float(*pair)[LANES] = &sums_[GROUP * LANES + 2 * I];
            parts_[I] = Narrow::template fold<0>(Narrow::load(pair[0]), Narrow::load(pair[1]));
        } else if constexpr (I < LANES / 2 + LANES / 4) {
            constexpr int K = I - LANES / 2;
            parts_[K] = Narrow::template fold<1>(parts_[2 * K], parts_[2 * K + 1]);
        } else if constexpr (I < LANES - 1) {
            parts_[0] = Narrow::template fold<2>(parts_[0], parts_[1]);
        } else {
            write(GROUP * LANES);
        }
    }

    // The scores of LANES accumulators, from this one on.
    INLINE void write(int accumulator) {
        constexpr int PIECE = ROWS < Narrow::LANES ? ROWS : Narrow::LANES;
        const narrow scores = parts_[0] * scale_;
        narrow &maximum = maxima_[accumulator / Narrow::LANES];
        maximum = Narrow::larger(scores, maximum);
        for (int i = 0; i < Narrow::LANES; i += PIECE, accumulator += PIECE) {
            if (accumulator / ROWS >= HEADS) return;
            __builtin_memcpy(&tile_.scores[accumulator / ROWS][first_row_ + accumulator % ROWS],
                             reinterpret_cast<const char *>(&scores) + i * sizeof(float),
                             PIECE * sizeof(float));
        }
    }

    Tile &tile_;
    const narrow scale_;
    uint32_t first_row_ = 0;
    narrow parts_[Narrow::LANES / 2];
    alignas(64) float sums_[STEPS][Narrow::LANES];
    narrow maxima_[STEPS / Narrow::LANES];
};

}  // namespace
