// The equivalents of the kernels that classify mask tiles: right for every cell there is, on every
// level of this CPU, and out of the way of launches that are not theirs.
#include "levels.h"
#include "native.h"
#include "native_halves.h"
#include "shader_digests.h"
#include "simt_support.h"

#include <string>
#include <vector>

namespace {

using native::Level;
using native::TILE_MIXED;
using native::TILE_OPEN;
using native::TILE_SKIP;

constexpr uint16_t HALF_HIDDEN = 0xfc00, MINUS_ZERO = 0x8000;
constexpr uint8_t UNTOUCHED = 7;

float bfloat_to_float(uint16_t bits) {
    const uint32_t word = uint32_t{bits} << 16;
    float x;
    memcpy(&x, &word, sizeof x);
    return x;
}

struct Type {
    const char *name;
    uint16_t first_hidden, last_hidden;
    float (*value)(uint16_t);
};
constexpr Type TYPES[] = {{"flash_attn_prefill_blk_f16", 0xfc00, 0xfc00, half_to_float},
                          {"flash_attn_prefill_blk_bf16", 0xf14a, 0xff80, bfloat_to_float}};

uint8_t class_of(const std::vector<uint16_t> &cells, float (*value)(uint16_t)) {
    bool hidden = true, open = true;
    for (uint16_t cell : cells) {
        hidden = hidden && value(cell) <= -1e30f;
        open = open && value(cell) == 0;
    }
    return hidden ? TILE_SKIP : open ? TILE_OPEN : TILE_MIXED;
}

// ---- each level ---------------------------------------------------------------------------------

// A tile of `fill`, but for one cell.
void every_cell_has_its_class(const Level &level) {
    for (const Type &type : TYPES) {
        for (uint32_t bits = 0; bits < 0x10000; bits++) {
            for (uint16_t fill : {uint16_t{0}, type.last_hidden}) {
                std::vector<uint16_t> cells(2 * native::MASK_TILE_KEYS, fill);
                cells[bits % cells.size()] = static_cast<uint16_t>(bits);
                uint8_t actual = UNTOUCHED;
                level.classify_tiles({cells.data(), native::MASK_TILE_KEYS, 2, 1, 1,
                                      type.first_hidden, type.last_hidden, &actual});
                CHECK_EQUAL(actual, class_of(cells, type.value));
            }
        }
    }
}

// ---- launches -----------------------------------------------------------------------------------

struct Mask {
    Mask(uint32_t rows, uint32_t keys, uint32_t tile_rows, uint32_t gap = 0)
        : rows(rows), keys(keys), tile_rows(tile_rows), stride(keys + gap),
          across((keys + 63) / 64), down((rows + tile_rows - 1) / tile_rows),
          cells((rows - 1) * stride + keys), classes(across * down, UNTOUCHED),
          params{static_cast<int32_t>(rows), static_cast<int32_t>(keys),
                 static_cast<int32_t>(stride)},
          launch(nullptr, 1, 1, {cells.data(), classes.data(), params}) {
        launch.buffer_lengths[0] = cells.size() * sizeof(uint16_t);
        launch.buffer_lengths[1] = classes.size();
        launch.buffer_lengths[2] = sizeof params;
        launch.set(across * 32, down, 1, 32, 1, 1);
        uint32_t seed = rows + keys;
        const uint16_t fills[] = {0, HALF_HIDDEN, MINUS_ZERO, 0x3c00};
        for (uint32_t row = 0; row < rows; row++)
            for (uint32_t key = 0; key < keys; key++)
                cells[row * stride + key] = fills[(row / 40 + key / 70) % 3];
        for (int i = 0; i < 5; i++)
            cells[some_half(seed) % cells.size()] = fills[3];
    }

    uint8_t expected(uint32_t tile_row, uint32_t tile) const {
        if ((tile + 1) * 64 > keys) return TILE_MIXED;
        std::vector<uint16_t> inside;
        for (uint32_t row = tile_row * tile_rows; row < std::min((tile_row + 1) * tile_rows, rows);
             row++)
            inside.insert(inside.end(), &cells[row * stride + tile * 64],
                          &cells[row * stride + tile * 64] + 64);
        return class_of(inside, half_to_float);
    }

    uint32_t rows, keys, tile_rows, stride, across, down;
    std::vector<uint16_t> cells;
    std::vector<uint8_t> classes;
    int32_t params[4];
    Launch launch;
};

const native_kernel *find(uint32_t tile_rows) {
    const std::string constants = "400=" + std::to_string(tile_rows) + ",401=64";
    return native_find(TYPES[0].name, DIGEST_flash_attn_prefill_blk, constants.c_str());
}

void masks_are_classified() {
    for (uint32_t tile_rows : {16u, 32u}) {
        for (uint32_t rows : {1u, 16u, 33u, 600u}) {
            for (uint32_t keys : {1u, 63u, 64u, 65u, 700u}) {
                for (uint32_t threads : {1u, 3u}) {
                    Mask mask(rows, keys, tile_rows, keys % 3);
                    TestPool pool(threads);
                    CHECK(native_estimate(find(tile_rows), &mask.launch) < 1000000);
                    CHECK(native_run(find(tile_rows), pool.pool, &mask.launch));
                    for (uint32_t i = 0; i < mask.classes.size(); i++)
                        CHECK_EQUAL(mask.classes[i],
                                    mask.expected(i / mask.across, i % mask.across));
                }
            }
        }
    }
}

// Each broken in one way; the classes must not be written.
void other_launches_are_not_served() {
    void (*const breaks[])(Mask &) = {
        [](Mask &m) { m.launch.threads[0] -= 32; },
        [](Mask &m) { m.launch.threads[1] += 1; },
        [](Mask &m) { m.launch.threads[2] = 2; },
        [](Mask &m) { m.launch.threads_per_threadgroup[0] = 16; },
        [](Mask &m) { m.params[0] = 0; },
        [](Mask &m) { m.params[1] = -64; },
        [](Mask &m) { m.params[2] = -1; },
        [](Mask &m) { m.params[2] = 0x7fffffff; },
        [](Mask &m) { m.launch.buffer_lengths[0] -= 2; },
        [](Mask &m) { m.launch.buffer_lengths[1] -= 1; },
        [](Mask &m) { m.launch.buffer_lengths[2] = 12; },
    };
    for (void (*break_it)(Mask &) : breaks) {
        Mask mask(40, 128, 32);
        break_it(mask);
        CHECK(!native_run(find(32), TestPool().pool, &mask.launch));
        CHECK(mask.classes == std::vector<uint8_t>(4, UNTOUCHED));
        CHECK(native_estimate(find(32), &mask.launch) == UINT64_MAX);
    }
}

void only_shipped_tiles_have_equivalents() {
    CHECK(find(16) != nullptr && find(32) != nullptr && find(8) == nullptr);
    CHECK(native_find(TYPES[0].name, DIGEST_flash_attn_prefill_blk, "") == nullptr);
    CHECK(native_find(TYPES[0].name, DIGEST_flash_attention, "400=32,401=64") == nullptr);
}

}  // namespace

int main() {
    for (const Level *level : native::levels())
        every_cell_has_its_class(*level);
    masks_are_classified();
    other_launches_are_not_served();
    only_shipped_tiles_have_equivalents();
}
