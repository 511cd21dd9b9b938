// Conversions that the compiler calls where the CPU has no instruction for them.
#pragma once

#if defined(__x86_64__)

namespace __msl {

constexpr float half_to_float(unsigned short bits) {
    const unsigned sign = (bits & 0x8000u) << 16;
    const unsigned magnitude = (bits & 0x7fffu) << 13;
    // The exponent's bias is 112 less; infinity and NaN keep the highest exponent.
    const bool finite = (bits & 0x7c00u) != 0x7c00u;
    const float scaled = __builtin_bit_cast(float, magnitude) * 0x1p112f;
    const unsigned value = finite ? __builtin_bit_cast(unsigned, scaled) : magnitude | 0x7f800000u;
    return __builtin_bit_cast(float, sign | value);
}

// To nearest, ties to even, once.
constexpr unsigned short double_to_half(double value) {
    const unsigned long bits = __builtin_bit_cast(unsigned long, value);
    const unsigned short sign = (unsigned short)(bits >> 48 & 0x8000);
    const double magnitude = __builtin_bit_cast(double, bits & ~(1ul << 63));
    if (magnitude != magnitude) return (unsigned short)(sign | 0x7e00);
    if (magnitude >= 65520.0) return (unsigned short)(sign | 0x7c00);
    // Adding 2^52 units of the last place rounds to one; below 2^-14 the unit stays 2^-24.
    const unsigned long exponent = __builtin_bit_cast(unsigned long, magnitude) >> 52;
    const unsigned long least = 1023 - 14;
    const unsigned long unit = (exponent < least ? least : exponent) - 10;
    const double anchor = __builtin_bit_cast(double, (unit + 52) << 52);
    const unsigned long units =
        __builtin_bit_cast(unsigned long, magnitude + anchor) & ((1ul << 52) - 1);
    const unsigned long biased = unit - (1023 - 24);
    return (unsigned short)(sign | (units + (biased << 10)));
}

}  // namespace __msl

extern "C" {
// Even with F16C, which knows no double.
__attribute__((weak, visibility("hidden"))) _Float16 __truncdfhf2(double value) {
    return __builtin_bit_cast(_Float16, __msl::double_to_half(value));
}
#if !defined(__F16C__)
__attribute__((weak, visibility("hidden"))) float __extendhfsf2(_Float16 value) {
    return __msl::half_to_float(__builtin_bit_cast(unsigned short, value));
}
__attribute__((weak, visibility("hidden"))) _Float16 __truncsfhf2(float value) {
    return __truncdfhf2(value);
}
#endif
}

#endif
