// The softmax of a tile: scores turn into weights.
#pragma once
#include "decode_tile.h"

namespace {

constexpr float INFINITE = __builtin_inff();

// A vector of weights a step, so that the steps can go between the multiplications of another tile.
class Weighing {
  public:
    Weighing() = default;  // of nothing

    explicit Weighing(Tile &tile)
        : tile_(&tile), count_((tile.keys.count + LANES - 1) / LANES * LANES), at_(tile.scores[0]),
          end_(at_ + count_) {
        for (int head = 0; head < tile.heads; head++)
            pad(tile.scores[head]);
        raise_peaks();
    }

    INLINE void step() {
        if (head_ == heads_) return;
        const wide score = Wide::load(at_), shift = Wide::broadcast(shifts_[head_]);
        const wide weight = exp2_bounded(score - shift);
        Wide::store(at_, weight);
        sum_ += weight;
        at_ += LANES;
        if (at_ == end_) next_head();
    }

    void all_steps() {
        while (head_ != heads_)
            step();
    }

  private:
    static constexpr uint32_t LANES = Wide::LANES;

    // Weights of 0 behind the tile's last row.
    void pad(float *scores) {
        for (uint32_t i = tile_->keys.count; i < count_; i++)
            scores[i] = -INFINITE;
    }

    void raise_peaks() {
        float falls[LANES] = {};  // of the peaks: what everything so far weighs less
        heads_ = tile_->heads;
        for (int head = 0; head < heads_; head++) {
            const float old = tile_->peaks[head], score = tile_->maxima[head];
            const float peak = score > old ? score : old;
            // While every score is -inf, -inf - -inf would turn weights of 0 into NaN.
            shifts_[head] = peak == -INFINITE ? 0 : peak;
            falls[head] = old - shifts_[head];
            tile_->peaks[head] = peak;
        }
        Wide::store(falls, exp2_bounded(Wide::load(falls)));
        for (int head = 0; head < heads_; head++)
            tile_->corrections[head] = falls[head];
    }

    INLINE void next_head() {
        float &total = tile_->sums[head_];
        total = total * tile_->corrections[head_] + sum(sum_);
        sum_ = wide{};
        at_ += MOST_TILE_ROWS - count_;
        end_ = at_ + count_;
        head_++;
    }

    Tile *tile_ = nullptr;
    uint32_t count_ = 0;  // of scores per head, padded
    int heads_ = 0, head_ = 0;
    float *at_ = nullptr, *end_ = nullptr;
    float shifts_[MOST_HEADS];
    wide sum_ = {};
};

}  // namespace
