/* f32 to f16: both ways to convert against the compiler's own type, for all exponents and ties. */
#include "half_float.h"
#include <stdio.h>

static int failures;

static float of_bits(uint32_t bits) {
    float value;
    memcpy(&value, &bits, sizeof value);
    return value;
}

static uint16_t expected(float value) {
    _Float16 half = (_Float16)value;
    uint16_t bits;
    memcpy(&bits, &half, sizeof bits);
    return bits;
}

static int is_nan(uint16_t half) {
    return (half & 0x7fff) > 0x7c00;
}

static void compare(const char *name, const float *from, const uint16_t *to, size_t count) {
    for (size_t i = 0; i < count; i++) {
        uint16_t right = expected(from[i]);
        if (to[i] == right || (is_nan(to[i]) && is_nan(right))) continue;
        if (failures++ < 10)
            fprintf(stderr, "%s: %a gives %04x, not %04x\n", name, from[i], to[i], right);
    }
}

/* A prime step through all bits, and the neighbours of every tie. */
static void every_way_rounds_to_nearest_even(void) {
    enum { COUNT = 1021 };
    float from[COUNT];
    uint16_t portable[COUNT], best[COUNT];
    uint64_t bits = 0;
    while (bits <= UINT32_MAX) {
        for (size_t i = 0; i < COUNT; i++, bits += 4099)
            from[i] = of_bits((uint32_t)(bits & ~UINT64_C(0xfff)) + (uint32_t)(i % 3) + 0xfff);
        half_convert_portable(from, portable, COUNT);
        half_convert(from, best, COUNT);
        compare("portable", from, portable, COUNT);
        compare("best", from, best, COUNT);
    }
}

static void overflows_are_found(void) {
    float values[37] = {0};
    const float large[] = {65520, -65520, 1e30f}, fine[] = {65519.99f, -65504, of_bits(0x7f800000)};
    for (size_t i = 0; i < 37; i++)
        for (size_t n = 0; n < 3; n++) {
            values[i] = fine[n];
            failures += half_find_overflow(values, 37) != 37;
            values[i] = large[n];
            failures += half_find_overflow(values, 37) != i;
            failures += half_find_overflow(values, i) != i;
            values[i] = 0;
        }
    values[4] = of_bits(0x7fc00000);
    failures += half_find_overflow(values, 37) != 37;
}

/* Which the undefined-behaviour sanitizer watches. */
static void numbers_need_no_alignment(void) {
    char memory[37 * sizeof(float) + 1];
    float values[37];
    uint16_t halves[37];
    for (size_t i = 0; i < 37; i++)
        values[i] = (float)i * 0.37f;
    memcpy(memory + 1, values, sizeof values);
    half_convert_portable(memory + 1, halves, 37);
    compare("portable, unaligned", values, halves, 37);
    half_convert(memory + 1, halves, 37);
    compare("best, unaligned", values, halves, 37);
    failures += half_find_overflow(memory + 1, 37) != 37;
}

int main(void) {
    numbers_need_no_alignment();
    every_way_rounds_to_nearest_even();
    overflows_are_found();
    return failures != 0;
}
