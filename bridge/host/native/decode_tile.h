// A tile of cache rows and some query heads of one kv head: what is scored and weighed at a time.
#pragma once
#include "decode_part.h"
#include "vector.h"

namespace {

constexpr uint32_t MOST_TILE_ROWS = native::DECODE_MOST_TILE_ROWS;
// So far ahead a row is fetched: long before it is needed, but not so long that what is on its way
// fills the second-level cache.
constexpr uint32_t FETCH_ROWS = 64;
// Query heads that share what is read.
constexpr int MOST_HEADS = 4;

// Rows of one kv head.
struct Rows {
    const uint16_t *first;
    size_t stride;   // elements
    uint32_t count;  // at most MOST_TILE_ROWS
    size_t ahead;    // elements from a row to the one that is to be fetched meanwhile
};

struct Tile {
    Rows keys, values;
    int heads;
    uint32_t head_dim;
    const float *queries;  // [head][stride]
    float *outputs;        // [head][stride], the weighted sums so far
    size_t stride;
    float *peaks, *sums;  // [head]
    float scale;

    alignas(64) float scores[MOST_HEADS][MOST_TILE_ROWS];  // then weights
    float maxima[MOST_HEADS];                              // of the scores; NaN is passed over
    float corrections[MOST_HEADS];                         // what the sums so far are multiplied by
};

constexpr size_t LINE_HALVES = 32;  // of a cache line

// Into the second-level cache: in the first one, rows at strides of a power of two drive each other
// out.
INLINE void fetch(const uint16_t *from) {
    __builtin_prefetch(from, 0, 2);
}

}  // namespace
