// Decode attention of one part and the merge of parts, compiled once for each CPU level.
#include "decode_level.h"
#include "vector.h"

namespace {

using native::DecodeMerge;
using native::DecodePart;
using native::padded;

// Keys and values of a tile stay in the second-level cache between its passes.
constexpr uint32_t TILE_ROWS = 64;
constexpr float INFINITE = __builtin_inff();

constexpr uint32_t smaller(uint32_t a, uint32_t b) {
    return a < b ? a : b;
}

// How a row of a head splits into vectors.
struct Width {
    explicit Width(uint32_t head_dim)
        : whole(head_dim / LANES), rest(static_cast<int>(head_dim % LANES)) {}

    uint32_t whole;
    int rest;  // elements behind the whole vectors
};

// Cache rows of one kv head.
struct Rows {
    const uint16_t *first;
    size_t stride;
    uint32_t count;

    const uint16_t *row(uint32_t i) const { return first + i * stride; }
};

using Scores = float[TILE_ROWS];

// Rows whose scores HEADS query heads take at a time: each score is summed in a register.
template <int HEADS> constexpr int score_rows() {
    return SCORE_ACCUMULATORS / (HEADS == 3 ? 4 : HEADS);
}

template <int HEADS, int ROWS>
inline void add_products(const vec (&keys)[ROWS], const float *queries, size_t query_stride,
                         vec (&sum)[HEADS * ROWS]) {
    for (int head = 0; head < HEADS; head++) {
        const vec query = load(queries + head * query_stride);
        for (int row = 0; row < ROWS; row++)
            sum[head * ROWS + row] = multiply_add(query, keys[row], sum[head * ROWS + row]);
    }
}

// scores[head][row] = scale · q·k. Writes up to the next multiple of ROWS.
template <int HEADS>
void score(const Rows &keys, const Width &width, const float *queries, size_t query_stride,
           float scale, Scores *scores) {
    constexpr int ROWS = score_rows<HEADS>();
    constexpr int COUNT = (HEADS * ROWS + LANES - 1) / LANES * LANES;
    for (uint32_t first = 0; first < keys.count; first += ROWS) {
        const uint16_t *row[ROWS];
        for (int r = 0; r < ROWS; r++)
            row[r] = keys.row(smaller(first + static_cast<uint32_t>(r), keys.count - 1));
        vec sum[COUNT] = {};
        auto &products = reinterpret_cast<vec(&)[HEADS * ROWS]>(sum);
        vec key[ROWS];
        uint32_t at = 0;
        for (uint32_t n = 0; n < width.whole; n++, at += LANES) {
            for (int r = 0; r < ROWS; r++)
                key[r] = load_half(row[r] + at);
            add_products<HEADS, ROWS>(key, queries + at, query_stride, products);
        }
        if (width.rest != 0) {
            for (int r = 0; r < ROWS; r++)
                key[r] = load_half(row[r] + at, width.rest);
            add_products<HEADS, ROWS>(key, queries + at, query_stride, products);
        }
        float total[COUNT];
        for (int i = 0; i < COUNT; i += LANES)
            store(total + i, sums(sum + i) * scale);
        for (int head = 0; head < HEADS; head++)
            __builtin_memcpy(scores[head] + first, total + head * ROWS, ROWS * sizeof(float));
    }
}

// Turns a head's scores into weights and adds them up. Returns what everything that was weighed
// before has to be multiplied by.
float weigh(Scores &scores, uint32_t rows, float &peak, float &sum) {
    const uint32_t end = (rows + LANES - 1) / LANES * LANES;
    for (uint32_t i = rows; i < end; i++)
        scores[i] = -INFINITE;
    vec most = load(scores);
    for (uint32_t i = LANES; i < end; i += LANES)
        most = larger(most, load(scores + i));
    const float largest_score = largest(most);
    const float new_peak = largest_score > peak ? largest_score : peak;
    // While every score is -inf, -inf - -inf would turn weights of 0 into NaN.
    const float shift = new_peak == -INFINITE ? 0 : new_peak;
    vec total = {};
    for (uint32_t i = 0; i < end; i += LANES) {
        const vec weight = exp2_negative(load(scores + i) - shift);
        store(scores + i, weight);
        total += weight;
    }
    const float correction = new_peak == peak ? 1 : exp2_negative(broadcast(peak - shift))[0];
    peak = new_peak;
    sum = sum * correction + add_lanes(total);
    return correction;
}

// outputs[head] = corrections[head] · outputs[head] + Σ weight · value, for VECTORS vectors of each
// head. RAGGED: the last of them has only `rest` elements.
template <int HEADS, int VECTORS, bool RAGGED = false>
inline void add_values(const Rows &values, const Scores *weights, const float *corrections,
                       float *outputs, size_t output_stride, int rest = 0) {
    vec sum[HEADS][VECTORS];
    for (int head = 0; head < HEADS; head++)
        for (int n = 0; n < VECTORS; n++)
            sum[head][n] = load(outputs + head * output_stride + n * LANES) * corrections[head];
    for (uint32_t row = 0; row < values.count; row++) {
        const uint16_t *from = values.row(row);
        vec value[VECTORS];
        for (int n = 0; n < VECTORS; n++)
            value[n] = RAGGED ? load_half(from, rest) : load_half(from + n * LANES);
        for (int head = 0; head < HEADS; head++) {
            const vec weight = broadcast(weights[head][row]);
            for (int n = 0; n < VECTORS; n++)
                sum[head][n] = multiply_add(weight, value[n], sum[head][n]);
        }
    }
    for (int head = 0; head < HEADS; head++)
        for (int n = 0; n < VECTORS; n++)
            store(outputs + head * output_stride + n * LANES, sum[head][n]);
}

// All of a head's width: as many vectors at a time as the registers hold, then half as many.
template <int HEADS, int VECTORS>
void add_rows(Rows values, Width width, const Scores *weights, const float *corrections,
              float *outputs, size_t output_stride) {
    for (; width.whole >= VECTORS; width.whole -= VECTORS) {
        add_values<HEADS, VECTORS>(values, weights, corrections, outputs, output_stride);
        values.first += VECTORS * LANES;
        outputs += VECTORS * LANES;
    }
    if constexpr (VECTORS > 1) {
        add_rows<HEADS, VECTORS / 2>(values, width, weights, corrections, outputs, output_stride);
    } else if (width.rest != 0) {
        add_values<HEADS, 1, true>(values, weights, corrections, outputs, output_stride,
                                   width.rest);
    }
}

template <int HEADS>
void attend_tile(const DecodePart &part, const Rows &keys, const Rows &values, uint32_t head) {
    const uint32_t stride = padded(part.head_dim);
    const Width width(part.head_dim);
    alignas(64) float scores[HEADS][TILE_ROWS];
    float corrections[HEADS];
    score<HEADS>(keys, width, part.queries + size_t{head} * stride, stride, part.scale, scores);
    for (int i = 0; i < HEADS; i++)
        corrections[i] = weigh(scores[i], keys.count, part.peaks[head + i], part.sums[head + i]);
    add_rows<HEADS, VALUE_ACCUMULATORS / (HEADS == 3 ? 4 : HEADS)>(
        values, width, scores, corrections, part.outputs + size_t{head} * stride, stride);
}

// The query heads of one kv head, four at a time.
void attend_group(const DecodePart &part, const Rows &keys, const Rows &values, uint32_t head) {
    const uint32_t end = head + part.group;
    for (; head + 4 <= end; head += 4)
        attend_tile<4>(part, keys, values, head);
    switch (end - head) {
    case 3:
        return attend_tile<3>(part, keys, values, head);
    case 2:
        return attend_tile<2>(part, keys, values, head);
    case 1:
        return attend_tile<1>(part, keys, values, head);
    }
}

void attend(const DecodePart &part) {
    const uint32_t heads = part.kv_heads * part.group;
    for (uint32_t i = 0; i < heads; i++) {
        part.peaks[i] = -INFINITE;
        part.sums[i] = 0;
    }
    __builtin_memset(part.outputs, 0, size_t{heads} * padded(part.head_dim) * sizeof(float));
    // The kv heads inside the rows: memory is read once, from the front to the back.
    for (uint32_t tile = 0; tile < part.rows; tile += TILE_ROWS) {
        const uint32_t count = smaller(TILE_ROWS, part.rows - tile);
        const size_t first = tile * part.row_stride;
        for (uint32_t kv_head = 0; kv_head < part.kv_heads; kv_head++) {
            const size_t at = first + size_t{kv_head} * part.head_dim;
            attend_group(part, {part.keys + at, part.row_stride, count},
                         {part.values + at, part.row_stride, count}, kv_head * part.group);
        }
    }
}

void merge_head(const DecodeMerge &merge, uint32_t head) {
    float peak = -INFINITE;
    for (uint32_t part = 0; part < merge.parts; part++) {
        const float other = merge.peaks[size_t{part} * merge.heads + head];
        peak = other > peak ? other : peak;
    }
    const float shift = peak == -INFINITE ? 0 : peak;
    const uint32_t stride = padded(merge.head_dim), vectors = (merge.head_dim + LANES - 1) / LANES;
    vec output[native::DECODE_MAX_HEAD_DIM / LANES] = {};
    float sum = 0;
    for (uint32_t part = 0; part < merge.parts; part++) {
        const size_t at = size_t{part} * merge.heads + head;
        const vec weight = exp2_negative(broadcast(merge.peaks[at] - shift));
        sum += weight[0] * merge.sums[at];
        for (uint32_t n = 0; n < vectors; n++)
            output[n] =
                multiply_add(weight, load(merge.outputs + at * stride + n * LANES), output[n]);
    }
    float whole[native::DECODE_MAX_HEAD_DIM];
    for (uint32_t n = 0; n < vectors; n++)
        store(whole + n * LANES, output[n] / sum);
    __builtin_memcpy(merge.out + size_t{head} * merge.head_dim, whole,
                     merge.head_dim * sizeof(float));
}

void merge(const DecodeMerge &merge) {
    for (uint32_t head = merge.first; head < merge.last; head++)
        merge_head(merge, head);
}

}  // namespace

namespace native {

extern const DecodeLevel DECODE_LEVEL;
const DecodeLevel DECODE_LEVEL = {DECODE_LEVEL_NAME, attend, merge};

}  // namespace native
