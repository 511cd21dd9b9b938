// Vectors of 4 lanes on any processor, in the compiler's own terms; halves are converted by
// integers.
#pragma once

namespace {

struct Vector4 {
    typedef float type __attribute__((vector_size(16)));
    static constexpr int LANES = 4;

    static type load(const float *from) {
        type x;
        __builtin_memcpy(&x, from, sizeof x);
        return x;
    }
    static void store(float *to, type x) { __builtin_memcpy(to, &x, sizeof x); }
    static type broadcast(float x) { return type{x, x, x, x}; }

    // A half's exponent and fraction, moved to their places in a float, are the value times 2^-112:
    // subnormal halves included, for the product is exact. Exponent 31 stays infinity or NaN.
    static type load_half(const uint16_t *from) {
        const words half = {from[0], from[1], from[2], from[3]};
        const words magnitude = (half & 0x7fff) << 13;
        const type finite = (type)magnitude * 0x1p112f;
        const words bits = (half & 0x7c00) == 0x7c00 ? magnitude | 0x7f800000 : (words)finite;
        return (type)(bits | (half & 0x8000) << 16);
    }
    // Never needed: a head is a multiple of four wide.
    static type load_half(const uint16_t *from, int) { return load_half(from); }

    // A half has 10 bits behind the first, and none below 2^-24: adding and taking away a power of
    // two that has the last of them for its own last bit rounds to it. From 2^16 on it is infinite.
    static type rounded_to_half(type x) {
        const words bits = (words)x, magnitude = bits & 0x7fffffff;
        const words exponent = magnitude & 0x7f800000, least_normal = words{} + 0x38800000;
        const words shift = (exponent < least_normal ? least_normal : exponent) + (13 << 23);
        const words rounded = (words)(((type)magnitude + (type)shift) - (type)shift);
        const words limit = words{} + 0x47800000, infinite = words{} + 0x7f800000;
        const words half = magnitude < limit ? rounded : magnitude;
        return (type)((half < limit || half > infinite ? half : infinite) | (bits & 0x80000000));
    }
    // The lanes of a and b in turns: of their first halves, and of their second.
    static type interleave_first(type a, type b) {
        return __builtin_shufflevector(a, b, 0, 4, 1, 5);
    }
    static type interleave_second(type a, type b) {
        return __builtin_shufflevector(a, b, 2, 6, 3, 7);
    }

    static type multiply_add(type a, type b, type c) { return a * b + c; }
    static type larger(type a, type b) { return a > b ? a : b; }
    // Up to 2^22 in magnitude.
    static type nearest(type x) {
        const float shift = 0x1.8p23f;
        return (x + shift) - shift;
    }
    // x · 2^power, in two steps of which only the second can leave the normal numbers.
    static type times_power(type x, type power) {
        const ints whole = __builtin_convertvector(power, ints), half = whole >> 1;
        return x * power_of_two(half) * power_of_two(whole - half);
    }

    // Each adds up lanes within a and within b, and puts b's results behind a's: those 2 apart,
    // then neighbours.
    template <int LEVEL> static type fold(type a, type b) {
        if constexpr (LEVEL == 0) {
            return __builtin_shufflevector(a, b, 0, 1, 4, 5) +
                   __builtin_shufflevector(a, b, 2, 3, 6, 7);
        } else {
            return __builtin_shufflevector(a, b, 0, 2, 4, 6) +
                   __builtin_shufflevector(a, b, 1, 3, 5, 7);
        }
    }

  private:
    typedef int32_t ints __attribute__((vector_size(16)));
    typedef uint32_t words __attribute__((vector_size(16)));

    // For powers from -126 to 127.
    static type power_of_two(ints power) { return (type)((power + 127) << 23); }
};

}  // namespace
