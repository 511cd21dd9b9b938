// What the vectors of the lowest CPU level do by arithmetic, where other levels have instructions.
#include "native_halves.h"
#include "simt_support.h"
#include "vector.h"

namespace {

float rounded(float x) {
    float lanes[Wide::LANES];
    Wide::store(lanes, Wide::rounded_to_half(Wide::broadcast(x)));
    for (float lane : lanes)
        CHECK(memcmp(&lane, &lanes[0], sizeof lane) == 0);
    return lanes[0];
}

void check_rounding(float x) {
    const float expected = static_cast<float>(rounded_to_half(x)), actual = rounded(x);
    CHECK(std::isnan(x) ? std::isnan(actual) : memcmp(&actual, &expected, sizeof actual) == 0);
}

// Each half, the middle between it and the next, and their neighbours.
void floats_round_to_the_nearest_half() {
    for (uint32_t bits = 0; bits < 0x10000; bits++) {
        const float half = half_to_float(static_cast<uint16_t>(bits));
        const float next = half_to_float(static_cast<uint16_t>(bits + 1));
        for (float x : {half, (half + next) / 2}) {
            check_rounding(x);
            check_rounding(std::nextafter(x, INFINITY));
            check_rounding(std::nextafter(x, -INFINITY));
        }
    }
    for (float x : {65519.99f, 65520.0f, 65536.0f, 1e30f, 0x1p-25f, 0x1.000002p-25f, 0x1p-149f}) {
        check_rounding(x);
        check_rounding(-x);
    }
}

void halves_are_themselves() {
    for (uint32_t bits = 0; bits < 0x10000; bits += Wide::LANES) {
        uint16_t halves[Wide::LANES];
        for (uint32_t i = 0; i < Wide::LANES; i++)
            halves[i] = static_cast<uint16_t>(bits + i);
        float lanes[Wide::LANES];
        Wide::store(lanes, Wide::load_half(halves));
        for (uint32_t i = 0; i < Wide::LANES; i++) {
            const float expected = half_to_float(halves[i]);
            CHECK(std::isnan(expected) ? std::isnan(lanes[i]) : lanes[i] == expected);
        }
    }
}

void lanes_take_turns() {
    float first[Wide::LANES], second[Wide::LANES], lanes[2 * Wide::LANES];
    for (int i = 0; i < Wide::LANES; i++) {
        first[i] = static_cast<float>(i);
        second[i] = static_cast<float>(-i);
    }
    const wide a = Wide::load(first), b = Wide::load(second);
    Wide::store(lanes, Wide::interleave_first(a, b));
    Wide::store(lanes + Wide::LANES, Wide::interleave_second(a, b));
    for (int i = 0; i < Wide::LANES; i++)
        CHECK(lanes[2 * i] == first[i] && lanes[2 * i + 1] == second[i]);
}

void powers_of_two_are_near() {
    for (float x = -170; x <= 12; x += 0.0078125f) {
        const float actual = sum(exp2_bounded(Wide::broadcast(x))) / Wide::LANES;
        const double expected = std::exp2(double{x});
        CHECK(std::fabs(actual - expected) <= std::max(0x1p-22 * expected, 0x1p-149));
    }
    CHECK(sum(exp2_bounded(Wide::broadcast(-INFINITY))) == 0);
    CHECK(sum(exp2_bounded(Wide::broadcast(0))) == Wide::LANES);
    CHECK(std::isnan(sum(exp2_bounded(Wide::broadcast(NAN)))));
}

}  // namespace

int main() {
    floats_round_to_the_nearest_half();
    halves_are_themselves();
    lanes_take_turns();
    powers_of_two_are_near();
}
