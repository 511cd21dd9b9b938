// Halves for the tests of the native engine: converted by arithmetic, and drawn.
#pragma once
#include <algorithm>
#include <cmath>
#include <cstdint>

inline float half_to_float(uint16_t half) {
    const int exponent = half >> 10 & 31, fraction = half & 1023;
    const double magnitude = exponent == 0    ? std::ldexp(fraction, -24)
                             : exponent == 31 ? (fraction ? NAN : INFINITY)
                                              : std::ldexp(1024 + fraction, exponent - 25);
    return static_cast<float>(half & 0x8000 ? -magnitude : magnitude);
}

inline double rounded_to_half(double x) {
    constexpr double LARGEST = 65504;
    if (!std::isfinite(x) || x == 0) return x;
    const int last_bit = std::max(std::ilogb(x) - 10, -24);
    const double rounded = std::ldexp(std::nearbyint(std::ldexp(x, -last_bit)), last_bit);
    return std::fabs(rounded) > LARGEST ? std::copysign(INFINITY, x) : rounded;
}

// Finite halves of all sizes up to 4, subnormal ones included.
inline uint16_t some_half(uint32_t &state) {
    state = state * 1664525 + 1013904223;
    const uint32_t sign = state >> 31 << 15, fraction = state >> 8 & 1023;
    const uint32_t exponent = (state >> 18 & 7) == 0 ? state >> 21 & 15 : 12 + (state >> 21 & 3);
    return static_cast<uint16_t>(sign | exponent << 10 | fraction);
}
