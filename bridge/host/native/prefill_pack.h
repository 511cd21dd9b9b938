// Lays out queries, keys, values and masks as the products of prefill attention read them.
#pragma once
#include "prefill_products.h"

namespace {

// x[i] becomes column i: each round rotates the bits of an element's place, row and column, by one.
INLINE void transpose(wide (&x)[Wide::LANES]) {
    constexpr int HALF = Wide::LANES / 2;
    for (int round = 1; round < Wide::LANES; round *= 2) {
        wide y[Wide::LANES];
        for (int i = 0; i < HALF; i++) {
            y[2 * i] = Wide::interleave_first(x[i], x[i + HALF]);
            y[2 * i + 1] = Wide::interleave_second(x[i], x[i + HALF]);
        }
        for (int i = 0; i < Wide::LANES; i++)
            x[i] = y[i];
    }
}

// Of a row that ends `count` elements on, as far as that is.
INLINE wide load(const float *from, uint32_t count) {
    if (count >= Wide::LANES) return Wide::load(from);
    float lanes[Wide::LANES] = {};
    __builtin_memcpy(lanes, from, count * sizeof(float));
    return Wide::load(lanes);
}

INLINE void store(float *to, wide x, uint32_t count) {
    if (count >= Wide::LANES) return Wide::store(to, x);
    float lanes[Wide::LANES];
    Wide::store(lanes, x);
    __builtin_memcpy(to, lanes, count * sizeof(float));
}

INLINE wide load_half(const uint16_t *from, uint32_t count) {
    return count >= Wide::LANES ? Wide::load_half(from)
                                : Wide::load_half(from, static_cast<int>(count));
}

// to[dim][lane] = scale · from(lane)[dim], rounded to half; from(lane) is null for zeros.
template <class From> void pack_queries(From from, uint32_t head_dim, float scale, float *to) {
    for (uint32_t lane = 0; lane < PREFILL_BLOCK_LANES; lane += Wide::LANES) {
        const float *rows[Wide::LANES];
        for (uint32_t i = 0; i < Wide::LANES; i++)
            rows[i] = from(lane + i);
        for (uint32_t dim = 0; dim < head_dim; dim += Wide::LANES) {
            const uint32_t count = head_dim - dim;
            wide x[Wide::LANES];
            for (uint32_t i = 0; i < Wide::LANES; i++)
                x[i] = rows[i] ? Wide::rounded_to_half(load(rows[i] + dim, count) * scale)
                               : Wide::broadcast(0);
            transpose(x);
            for (uint32_t i = 0; i < Wide::LANES && i < count; i++)
                Wide::store(to + (dim + i) * PREFILL_BLOCK_LANES + lane, x[i]);
        }
    }
}

// to[key][lane] = from(lane)[key], for a step's keys; from(lane) is null for zeros.
template <class From> void pack_mask(From from, uint32_t first, uint32_t last, float *to) {
    for (uint32_t lane = first; lane < last; lane += Wide::LANES) {
        const uint16_t *rows[Wide::LANES];
        for (uint32_t i = 0; i < Wide::LANES; i++)
            rows[i] = from(lane + i);
        for (uint32_t key = 0; key < PREFILL_STEP_KEYS; key += Wide::LANES) {
            wide x[Wide::LANES];
            for (uint32_t i = 0; i < Wide::LANES; i++)
                x[i] = rows[i] ? Wide::load_half(rows[i] + key) : Wide::broadcast(0);
            transpose(x);
            for (uint32_t i = 0; i < Wide::LANES; i++)
                Wide::store(to + (key + i) * PREFILL_BLOCK_LANES + lane, x[i]);
        }
    }
}

void pack_keys(const uint16_t *from, size_t stride, uint32_t head_dim, float *to) {
    for (uint32_t key = 0; key < PREFILL_STEP_KEYS; key++)
        for (uint32_t dim = 0; dim < head_dim; dim += Wide::LANES)
            Wide::store(to + key * KEY_STRIDE + dim,
                        load_half(from + key * stride + dim, head_dim - dim));
}

// Panels of VECTORS vectors of columns, each [key][columns], then of half as many.
template <int VECTORS>
void pack_values(const uint16_t *from, size_t stride, uint32_t head_dim, uint32_t width, float *to,
                 uint32_t column = 0) {
    constexpr uint32_t COLUMNS = VECTORS * Wide::LANES;
    for (; column + COLUMNS <= width; column += COLUMNS) {
        float *panel = to + size_t{column} * PREFILL_STEP_KEYS;
        for (uint32_t key = 0; key < PREFILL_STEP_KEYS; key++)
            for (uint32_t i = 0; i < COLUMNS; i += Wide::LANES) {
                const uint32_t dim = column + i;
                Wide::store(panel + key * COLUMNS + i,
                            dim < head_dim ? load_half(from + key * stride + dim, head_dim - dim)
                                           : Wide::broadcast(0));
            }
    }
    if constexpr (VECTORS > 1) pack_values<VECTORS / 2>(from, stride, head_dim, width, to, column);
}

}  // namespace
