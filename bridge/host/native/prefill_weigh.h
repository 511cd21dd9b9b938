// The lazy online softmax of prefill attention.
#pragma once
#include "arithmetic.h"
#include "prefill_products.h"

namespace {

// A row's output is scaled down only when its peak has risen by more than this.
constexpr float SLACK = 8;
// Finite: while a row sees no key, -inf - -inf would be NaN.
constexpr float LEAST_PEAK = -0x1.fffffep126f;

INLINE wide exponential(wide x) {
    return exp2_bounded(x * native::LOG2_E);
}

// Turns scores[key] of one vector of lanes into weights, as halves. Returns what the output has to
// be multiplied by.
template <bool MASKED>
INLINE wide weigh_vector(float *scores, const float *mask, float *peaks, float *sums) {
    const wide before = Wide::load(peaks);
    wide most = before;
    for (uint32_t i = 0; i < TILE; i += PREFILL_BLOCK_LANES) {
        wide score = Wide::load(scores + i);
        if (MASKED) Wide::store(scores + i, score += Wide::load(mask + i));
        most = Wide::larger(score, most);
    }
    const wide peak = most > before + SLACK ? most : before;
    wide total = Wide::broadcast(0);
    for (uint32_t i = 0; i < TILE; i += PREFILL_BLOCK_LANES) {
        const wide weight = Wide::rounded_to_half(exponential(Wide::load(scores + i) - peak));
        Wide::store(scores + i, weight);
        total += weight;
    }
    const wide factor = exponential(before - peak);
    Wide::store(peaks, peak);
    Wide::store(sums, Wide::multiply_add(Wide::load(sums), factor, total));
    return factor;
}

// Multiplies the rows of outputs whose factor is not 1.
INLINE void rescale(wide factor, float *outputs, uint32_t width) {
    float factors[Wide::LANES];
    Wide::store(factors, factor);
    for (int row = 0; row < Wide::LANES; row++) {
        if (factors[row] == 1) continue;
        float *output = outputs + size_t(row) * width;
        for (uint32_t column = 0; column < width; column += Wide::LANES)
            Wide::store(output + column, Wide::load(output + column) * factors[row]);
    }
}

// Of the lanes from `first` to `last`, whole vectors. mask: null for none.
void weigh(float *scores, const float *mask, float *peaks, float *sums, float *outputs,
           uint32_t width, uint32_t first, uint32_t last) {
    for (uint32_t lane = first; lane < last; lane += Wide::LANES) {
        const wide factor =
            mask ? weigh_vector<true>(scores + lane, mask + lane, peaks + lane, sums + lane)
                 : weigh_vector<false>(scores + lane, nullptr, peaks + lane, sums + lane);
        rescale(factor, outputs + size_t{lane} * width, width);
    }
}

}  // namespace
