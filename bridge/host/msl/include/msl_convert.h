// Reinterpretation of bits.
#pragma once

template <class T, class U> constexpr T as_type(U value) {
    static_assert(sizeof(T) == sizeof(U), "as_type needs types of the same size");
    return __builtin_bit_cast(T, value);
}
