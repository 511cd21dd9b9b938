// What classifying the tiles of an attention mask computes with vectors: a row of tiles.
#pragma once
#include <cstddef>
#include <cstdint>

namespace native {

constexpr uint32_t MASK_TILE_KEYS = 64;

// As shaders/flash_attn_prefill_blk.metal has them.
enum MaskTileClass : uint8_t { TILE_SKIP = 0, TILE_MIXED = 1, TILE_OPEN = 2 };

struct MaskTilesPart {
    const uint16_t *cells;  // f16 or bf16, of the first tile
    size_t row_stride;      // elements
    uint32_t rows;          // of cells
    uint32_t whole, tiles;  // that have all their keys, and all: the last may be cut off
    // The bits of the cells that hide a key: -inf is the last, and of two negative numbers the
    // lesser has the larger bits.
    uint16_t first_hidden, last_hidden;
    uint8_t *classes;  // out, [tile]
};

}  // namespace native
