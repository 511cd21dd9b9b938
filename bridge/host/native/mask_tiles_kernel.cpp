// The classes of a row of mask tiles, compiled once for each CPU level.
#include "level_functions.h"

namespace {

using native::MASK_TILE_KEYS;

// The type of the cells, in which the loop's vectors stay.
using bits = uint16_t;
constexpr bits MAGNITUDE = 0x7fff;

native::MaskTileClass classify(const native::MaskTilesPart &part, const uint16_t *cells) {
    const bits hidden = static_cast<bits>(part.last_hidden - part.first_hidden);
    bool all_hidden = true, all_open = true;
    for (uint32_t row = 0; row < part.rows && (all_hidden || all_open); row++) {
        bits visible = 0, biased = 0;
        for (uint32_t key = 0; key < MASK_TILE_KEYS; key++) {
            const bits cell = cells[key];
            visible |= static_cast<bits>(cell - part.first_hidden) > hidden;
            biased |= cell & MAGNITUDE;
        }
        all_hidden = all_hidden && visible == 0;
        all_open = all_open && biased == 0;
        cells += part.row_stride;
    }
    return all_hidden ? native::TILE_SKIP : all_open ? native::TILE_OPEN : native::TILE_MIXED;
}

}  // namespace

namespace native::NATIVE_LEVEL {

void classify_tiles(const MaskTilesPart &part) {
    for (uint32_t tile = 0; tile < part.tiles; tile++)
        part.classes[tile] = tile < part.whole
                                 ? classify(part, part.cells + size_t{tile} * MASK_TILE_KEYS)
                                 : TILE_MIXED;
}

}  // namespace native::NATIVE_LEVEL
