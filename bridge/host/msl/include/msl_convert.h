// Reinterpretation of bits.
#pragma once

template <class T, class U, class = metal::enable_if_t<sizeof(T) == sizeof(U)>>
constexpr T as_type(U value) {
    return __builtin_bit_cast(T, value);
}
