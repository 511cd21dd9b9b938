// <metal_pack>: vectors of fractions in one word, the first component in the lowest bits.
#pragma once

namespace __msl {

// A fraction as an integer of `bits`, to the nearest; signed ones are from -1 to 1.
inline uint packed_unorm(float x, uint bits) {
    return uint(__builtin_rintf(saturate(x) * float((1u << bits) - 1)));
}
inline uint packed_snorm(float x, uint bits) {
    const float scaled = clamp(x, -1.0f, 1.0f) * float((1u << (bits - 1)) - 1);
    return uint(int(__builtin_rintf(scaled))) & ((1u << bits) - 1);
}
inline float unpacked_unorm(uint word, uint offset, uint bits) {
    return float(extract_bits(word, offset, bits)) / float((1u << bits) - 1);
}
inline float unpacked_snorm(uint word, uint offset, uint bits) {
    return max(float(extract_bits(int(word), offset, bits)) / float((1u << (bits - 1)) - 1), -1.0f);
}

// Between the light that a color means and its sRGB code.
inline float srgb_of(float x) {
    return x <= 0.0031308f ? 12.92f * x : 1.055f * pow(x, 1.0f / 2.4f) - 0.055f;
}
inline float linear_of(float x) {
    return x <= 0.04045f ? x / 12.92f : pow((x + 0.055f) / 1.055f, 2.4f);
}

}  // namespace __msl

namespace metal {

#define MSL_PACK(T)                                                                                \
    inline uint pack_##T##_to_unorm4x8(const T##4 & x) {                                           \
        uint word = 0;                                                                             \
        for (uint i = 0; i < 4; i++)                                                               \
            word |= __msl::packed_unorm(x.get(i), 8) << (8 * i);                                   \
        return word;                                                                               \
    }                                                                                              \
    inline uint pack_##T##_to_snorm4x8(const T##4 & x) {                                           \
        uint word = 0;                                                                             \
        for (uint i = 0; i < 4; i++)                                                               \
            word |= __msl::packed_snorm(x.get(i), 8) << (8 * i);                                   \
        return word;                                                                               \
    }                                                                                              \
    inline uint pack_##T##_to_unorm2x16(const T##2 & x) {                                          \
        return __msl::packed_unorm(x.get(0), 16) | __msl::packed_unorm(x.get(1), 16) << 16;        \
    }                                                                                              \
    inline uint pack_##T##_to_snorm2x16(const T##2 & x) {                                          \
        return __msl::packed_snorm(x.get(0), 16) | __msl::packed_snorm(x.get(1), 16) << 16;        \
    }                                                                                              \
    inline uint pack_##T##_to_unorm10a2(const T##4 & x) {                                          \
        uint word = __msl::packed_unorm(x.get(3), 2) << 30;                                        \
        for (uint i = 0; i < 3; i++)                                                               \
            word |= __msl::packed_unorm(x.get(i), 10) << (10 * i);                                 \
        return word;                                                                               \
    }                                                                                              \
    inline ushort pack_##T##_to_unorm565(const T##3 & x) {                                         \
        return ushort(__msl::packed_unorm(x.get(0), 5) | __msl::packed_unorm(x.get(1), 6) << 5 |   \
                      __msl::packed_unorm(x.get(2), 5) << 11);                                     \
    }                                                                                              \
    inline uint pack_##T##_to_srgb_unorm4x8(const T##4 & x) {                                      \
        uint word = __msl::packed_unorm(x.get(3), 8) << 24;                                        \
        for (uint i = 0; i < 3; i++)                                                               \
            word |= __msl::packed_unorm(__msl::srgb_of(saturate(float(x.get(i)))), 8) << (8 * i);  \
        return word;                                                                               \
    }                                                                                              \
    inline T##4 unpack_unorm4x8_to_##T(uint word) {                                                \
        T##4 x;                                                                                    \
        for (uint i = 0; i < 4; i++)                                                               \
            x.set(i, T(__msl::unpacked_unorm(word, 8 * i, 8)));                                    \
        return x;                                                                                  \
    }                                                                                              \
    inline T##4 unpack_snorm4x8_to_##T(uint word) {                                                \
        T##4 x;                                                                                    \
        for (uint i = 0; i < 4; i++)                                                               \
            x.set(i, T(__msl::unpacked_snorm(word, 8 * i, 8)));                                    \
        return x;                                                                                  \
    }                                                                                              \
    inline T##2 unpack_unorm2x16_to_##T(uint word) {                                               \
        return T##2(__msl::unpacked_unorm(word, 0, 16), __msl::unpacked_unorm(word, 16, 16));      \
    }                                                                                              \
    inline T##2 unpack_snorm2x16_to_##T(uint word) {                                               \
        return T##2(__msl::unpacked_snorm(word, 0, 16), __msl::unpacked_snorm(word, 16, 16));      \
    }                                                                                              \
    inline T##4 unpack_unorm10a2_to_##T(uint word) {                                               \
        return T##4(__msl::unpacked_unorm(word, 0, 10), __msl::unpacked_unorm(word, 10, 10),       \
                    __msl::unpacked_unorm(word, 20, 10), __msl::unpacked_unorm(word, 30, 2));      \
    }                                                                                              \
    inline T##3 unpack_unorm565_to_##T(ushort word) {                                              \
        return T##3(__msl::unpacked_unorm(word, 0, 5), __msl::unpacked_unorm(word, 5, 6),          \
                    __msl::unpacked_unorm(word, 11, 5));                                           \
    }                                                                                              \
    inline T##4 unpack_unorm4x8_srgb_to_##T(uint word) {                                           \
        T##4 x = unpack_unorm4x8_to_##T(word);                                                     \
        for (uint i = 0; i < 3; i++)                                                               \
            x.set(i, T(__msl::linear_of(__msl::unpacked_unorm(word, 8 * i, 8))));                  \
        return x;                                                                                  \
    }
MSL_PACK(float)
MSL_PACK(half)
#undef MSL_PACK

}  // namespace metal
