/* Rows of f32 to f16, rounded to nearest, ties to even. Infinities and NaN stay what they are; a
 * finite number that would become an infinity is found beforehand. */
#ifndef FLASHMETAL_HALF_FLOAT_H
#define FLASHMETAL_HALF_FLOAT_H

#include <stddef.h>
#include <stdint.h>
#include <string.h>
#if defined(__x86_64__)
#include <immintrin.h>
#endif

enum {
    HALF_OVERFLOW = 0x477ff000, /* the bits of 65520: the smallest f32 that rounds to infinity */
    HALF_NORMAL = 0x38800000,   /* of 2^-14: the smallest normal f16 */
    FLOAT_INFINITY = 0x7f800000,
    FLOAT_MAGNITUDE = 0x7fffffff,
};

static inline uint32_t half_bits(float value) {
    uint32_t bits;
    memcpy(&bits, &value, sizeof bits);
    return bits;
}

/* Arrays of Python need not be aligned. */
static inline float half_load(const void *from, size_t i) {
    float value;
    memcpy(&value, (const char *)from + i * sizeof value, sizeof value);
    return value;
}

/* The index of the first number that is finite and too large; `count` when there is none. */
static inline size_t half_find_overflow(const void *from, size_t count) {
    uint32_t any = 0;
    for (size_t i = 0; i < count; i++)
        any |= (half_bits(half_load(from, i)) & FLOAT_MAGNITUDE) - HALF_OVERFLOW <
               (uint32_t)FLOAT_INFINITY - HALF_OVERFLOW;
    for (size_t i = 0; any && i < count; i++)
        if ((half_bits(half_load(from, i)) & FLOAT_MAGNITUDE) - HALF_OVERFLOW <
            (uint32_t)FLOAT_INFINITY - HALF_OVERFLOW)
            return i;
    return count;
}

static inline uint16_t half_of(float value) {
    uint32_t bits = half_bits(value), magnitude = bits & FLOAT_MAGNITUDE;
    uint16_t sign = (uint16_t)(bits >> 16 & 0x8000);
    if (magnitude > FLOAT_INFINITY) return sign | 0x7e00 | (uint16_t)(magnitude >> 13 & 0x3ff);
    if (magnitude >= HALF_OVERFLOW) return sign | 0x7c00;
    if (magnitude >= HALF_NORMAL) {
        /* Half a unit of the last place, less one unless it is odd: ties go to even. */
        uint32_t rounded = magnitude + 0xfff + (magnitude >> 13 & 1);
        return sign | (uint16_t)((rounded >> 13) - (112 << 10));
    }
    /* The last place of 0.5 in f32 is that of subnormals in f16: the addition rounds. */
    float small;
    memcpy(&small, &magnitude, sizeof small);
    return sign | (uint16_t)(half_bits(small + 0.5f) - half_bits(0.5f));
}

static inline void half_convert_portable(const void *from, uint16_t *to, size_t count) {
    for (size_t i = 0; i < count; i++)
        to[i] = half_of(half_load(from, i));
}

#if defined(__x86_64__)
__attribute__((target("avx,f16c"))) static inline void
half_convert_f16c(const void *from, uint16_t *to, size_t count) {
    const char *bytes = from;
    size_t whole = count / 8 * 8;
    for (size_t i = 0; i < whole; i += 8)
        _mm_storeu_si128(
            (__m128i *)(to + i),
            _mm256_cvtps_ph(_mm256_loadu_ps((const float *)(bytes + i * sizeof(float))),
                            _MM_FROUND_TO_NEAREST_INT));
    half_convert_portable(bytes + whole * sizeof(float), to + whole, count - whole);
}
#endif

static inline void half_convert(const void *from, uint16_t *to, size_t count) {
#if defined(__x86_64__)
    if (__builtin_cpu_supports("f16c")) {
        half_convert_f16c(from, to, count);
        return;
    }
#endif
    half_convert_portable(from, to, count);
}

#endif
