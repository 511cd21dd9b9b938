// Decode attention of one part and the merge of parts, compiled once for each CPU level.
#include "decode_score.h"
#include "decode_values.h"
#include "level_functions.h"

namespace {

using native::DecodeMerge;
using native::DecodePart;
using native::padded;

constexpr uint32_t smaller(uint32_t a, uint32_t b) {
    return a < b ? a : b;
}

// Tiles, one behind the other: while the values of one are added, the next one is weighed.
class Attention {
  public:
    explicit Attention(const DecodePart &part) : part_(part) {
        const uint32_t heads = part.kv_heads * part.group;
        for (uint32_t i = 0; i < heads; i++) {
            part.peaks[i] = -INFINITE;
            part.sums[i] = 0;
        }
        __builtin_memset(part.outputs, 0, size_t{heads} * padded(part.head_dim) * sizeof(float));
        for (Tile &tile : tiles_) {
            tile.head_dim = part.head_dim;
            tile.stride = padded(part.head_dim);
            tile.scale = part.scale;
        }
    }

    // The kv heads inside the rows: memory is read from the front to the back, once.
    void run() {
        for (uint32_t row = 0; row < part_.rows; row += part_.tile_rows) {
            for (uint32_t kv_head = 0; kv_head < part_.kv_heads; kv_head++) {
                for (uint32_t i = 0; i < part_.group; i += MOST_HEADS)
                    add(row, kv_head, i);
            }
        }
        Weighing nothing;
        add_values(*last_, nothing);
    }

  private:
    // Some query heads, from the group's `first` on.
    void add(uint32_t row, uint32_t kv_head, uint32_t first) {
        Tile &tile = last_ == &tiles_[0] ? tiles_[1] : tiles_[0];
        place(tile, row, kv_head, first);
        score(tile);
        Weighing weighing(tile);
        if (last_ != nullptr) add_values(*last_, weighing);
        weighing.all_steps();
        last_ = &tile;
    }

    void place(Tile &tile, uint32_t row, uint32_t kv_head, uint32_t first) {
        const size_t at = row * part_.row_stride + size_t{kv_head} * part_.head_dim;
        const uint32_t count = smaller(part_.tile_rows, part_.rows - row);
        const bool more = part_.rows + part_.rows_after > row + FETCH_ROWS;
        const size_t ahead = more ? FETCH_ROWS * part_.row_stride : 0;
        const size_t head = kv_head * part_.group + first;
        tile.keys = {part_.keys + at, part_.row_stride, count, ahead};
        tile.values = {part_.values + at, part_.row_stride, count, ahead};
        tile.heads = static_cast<int>(smaller(MOST_HEADS, part_.group - first));
        tile.queries = part_.queries + head * tile.stride;
        tile.outputs = part_.outputs + head * tile.stride;
        tile.peaks = part_.peaks + head;
        tile.sums = part_.sums + head;
    }

    const DecodePart &part_;
    Tile tiles_[2];
    Tile *last_ = nullptr;  // weighed, its values not yet added
};

void merge_head(const DecodeMerge &merge, uint32_t head) {
    constexpr uint32_t LANES = Wide::LANES, MOST = native::DECODE_MAX_HEAD_DIM;
    float peak = -INFINITE;
    for (uint32_t part = 0; part < merge.parts; part++) {
        const float other = merge.peaks[size_t{part} * merge.heads + head];
        peak = other > peak ? other : peak;
    }
    const float shift = peak == -INFINITE ? 0 : peak;
    const uint32_t stride = padded(merge.head_dim), vectors = (merge.head_dim + LANES - 1) / LANES;
    wide output[MOST / LANES] = {};
    float sum = 0;
    for (uint32_t part = 0; part < merge.parts; part++) {
        const size_t at = size_t{part} * merge.heads + head;
        const wide weight = exp2_bounded(Wide::broadcast(merge.peaks[at] - shift));
        sum += weight[0] * merge.sums[at];
        for (uint32_t n = 0; n < vectors; n++) {
            const wide value = Wide::load(merge.outputs + at * stride + n * LANES);
            output[n] = Wide::multiply_add(weight, value, output[n]);
        }
    }
    float whole[MOST];
    for (uint32_t n = 0; n < vectors; n++)
        Wide::store(whole + n * LANES, output[n] / sum);
    __builtin_memcpy(merge.out + size_t{head} * merge.head_dim, whole,
                     merge.head_dim * sizeof(float));
}

}  // namespace

namespace native::NATIVE_LEVEL {

void attend(const DecodePart &part) {
    Attention(part).run();
}

void merge(const DecodeMerge &merge) {
    for (uint32_t head = merge.first; head < merge.last; head++)
        merge_head(merge, head);
}

}  // namespace native::NATIVE_LEVEL
