// Vectors of any processor, in the compiler's own terms: 4 lanes, halves converted by integers.
#pragma once

namespace {

constexpr int LANES = 4;
// What the registers hold beside the operands.
constexpr int SCORE_ACCUMULATORS = 8;
constexpr int VALUE_ACCUMULATORS = 8;

typedef float vec __attribute__((vector_size(16)));
typedef int32_t ints __attribute__((vector_size(16)));
typedef uint32_t words __attribute__((vector_size(16)));

inline vec multiply_add(vec a, vec b, vec c) {
    return a * b + c;
}

inline vec larger(vec a, vec b) {
    return a > b ? a : b;
}

// A half's exponent and fraction, moved to their places in a float, are the value times 2^-112:
// subnormal halves included, for the product is exact. Exponent 31 stays infinity or NaN.
inline vec load_half(const uint16_t *from) {
    const words half = {from[0], from[1], from[2], from[3]};
    const words magnitude = (half & 0x7fff) << 13;
    const vec finite = (vec)magnitude * 0x1p112f;
    const words bits = (half & 0x7c00) == 0x7c00 ? magnitude | 0x7f800000 : (words)finite;
    return (vec)(bits | (half & 0x8000) << 16);
}

// A head is a multiple of four wide: there is no rest.
inline vec load_half(const uint16_t *from, int) {
    return load_half(from);
}

// Up to 2^22 in magnitude.
inline vec nearest(vec x) {
    const float shift = 0x1.8p23f;
    return (x + shift) - shift;
}

inline vec power_of_two(ints power) {
    return (vec)((power + 127) << 23);
}

// In two steps, of which only the second can leave the normal numbers.
inline vec times_power(vec x, vec power) {
    const ints whole = __builtin_convertvector(power, ints), half = whole >> 1;
    return x * power_of_two(half) * power_of_two(whole - half);
}

inline float lane_sum(vec x) {
    return (x[0] + x[2]) + (x[1] + x[3]);
}

inline vec sums(const vec *x) {
    return vec{lane_sum(x[0]), lane_sum(x[1]), lane_sum(x[2]), lane_sum(x[3])};
}

}  // namespace
