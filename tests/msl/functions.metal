// One function, conversion or construct a kernel, with exact results.
#define EXACT(NAME, ...)                                                                           \
    kernel void NAME(CHECKED) {                                                                    \
        CHECK(__VA_ARGS__);                                                                        \
    }

EXACT(clz_of_all_widths, clz(uchar(1)) == 7 && clz(1ul) == 63 && clz(-1) == 0)
EXACT(ctz_of_vectors, all(ctz(uint3(1, 8, 0)) == uint3(0, 3, 32)))
EXACT(popcount_of_ulong, popcount(~0ul) == 64 && popcount(short(-1)) == 16)
EXACT(reverse_bits_of_uchar, reverse_bits(uchar(1)) == 128 && reverse_bits(2u) == 0x40000000)
EXACT(mulhi_of_vectors, all(mulhi(uint2(~0u), uint2(2, 4)) == uint2(1, 3)))
EXACT(rotate_of_ushort, rotate(ushort(0x8001), ushort(1)) == 3)
EXACT(saturating_sums, addsat(int(0x7fffffff), 1) == 0x7fffffff && subsat(0u, 1u) == 0)
EXACT(madsat_of_short, madsat(short(300), short(300), short(1)) == 32767)
EXACT(absdiff_of_ints, absdiff(-2, 3) == 5u && absdiff(uchar(3), uchar(250)) == 247)
EXACT(median_of_three, median3(1.0f, 5.0f, 3.0f) == 3 && median3(half(2), half(1), half(3)) == 2)
EXACT(minimum_of_mixed, min(1, 2.5f) == 1 && max(2u, 3) == 3 && min(half(1), 2) == 1)
EXACT(clamp_of_vectors, all(clamp(int3(-5, 0, 5), -1, 1) == int3(-1, 0, 1)))
EXACT(select_of_vectors,
      all(select(float3(1), float3(2), bool3(true, false, true)) == float3(2, 1, 2)))
EXACT(select_of_mixed, select(1.0f, 2, true) == 2 && select(half(1), half(3), false) == 1)
EXACT(step_and_saturate, step(0.5h, 1.0h) == 1 && saturate(-0.5h) == 0 && saturate(0.25f) == 0.25f)
EXACT(sign_of_vectors, all(sign(float3(-2, 0, 7)) == float3(-1, 0, 1)))
EXACT(fract_of_negative, fract(-0.75f) == 0.25f && all(fract(float2(1.5, 2)) == float2(0.5, 0)))
EXACT(rounding_of_halves,
      rint(0.5f) == 0 && round(0.5f) == 1 && round(-2.5h) == -3 && rint(1.5h) == 2)
EXACT(ldexp_of_vectors, all(ldexp(float2(1, 3), int2(3, -1)) == float2(8, 1.5)))
EXACT(powers, pow(2.0f, 10.0f) == 1024 && powr(2.0f, 3.0f) == 8 && exp2(5.0f) == 32)
EXACT(logarithms, log2(8.0f) == 3 && all(log2(float2(2, 4)) == float2(1, 2)))
EXACT(roots, sqrt(49.0f) == 7 && rsqrt(4.0f) == 0.5f && sqrt(4.0h) == 2)
EXACT(remainders, fmod(-7.5f, 2.0f) == -1.5f && -7 % 3 == -1)
EXACT(copysign_of_zero, signbit(copysign(0.0f, -1.0f)) && !signbit(copysign(-1.0f, 2.0f)))
EXACT(tests_of_vectors, all(isnan(float2(NAN, 1)) == bool2(true, false)) && isfinite(1.0h))
EXACT(any_and_all, any(bool3(false, true, false)) && !all(bool2(true, false)) && all(bool4(true)))
EXACT(dot_of_halves,
      dot(half3(1, 2, 3), half3(4, 5, 6)) == 32 && dot((float4)half4(1), float4(2)) == 8)
EXACT(distances, distance_squared(float2(1, 1), float2(4, 5)) == 25 && length(float3(2, 3, 6)) == 7)
EXACT(faces, all(faceforward(float2(1, 0), float2(0, 1), float2(0, -1)) == float2(1, 0)))
EXACT(mix_of_vectors, all(mix(float2(0, 4), float2(2, 8), float2(0.5, 0.25)) == float2(1, 5)))
EXACT(float_to_int_truncates, int(-1.9f) == -1 && uint(3.99f) == 3 && short(2.5h) == 2)
EXACT(int_to_half, half(2049) == 2048.0h && float(half(1.0f / 3)) != 1.0f / 3)
EXACT(chars_are_signed, char(200) == -56 && uchar(-1) == 255 && sizeof(long) == 8)
EXACT(bits_of_half, as_type<ushort>(1.0h) == 0x3c00 && as_type<half>(ushort(0x4000)) == 2)
EXACT(bits_of_bfloat,
      as_type<ushort>(bfloat(1.0f)) == 0x3f80 && as_type<bfloat>(ushort(0x4000)) == 2)
EXACT(bits_of_vectors, as_type<ulong>(uint2(1, 2)) == 0x200000001ul)
EXACT(bits_of_packed, as_type<float2>(packed_float2(1, 2)).y == 2)
EXACT(numeric_limits_of_ulong,
      numeric_limits<ulong>::max() == ~0ul && numeric_limits<char>::min() == -128)
EXACT(numeric_limits_of_bfloat, isinf(float(numeric_limits<bfloat>::infinity())))
EXACT(traits_of_types, is_signed_v<half> &&is_floating_point_v<bfloat> &&is_unsigned_v<size_t>)
EXACT(removed_qualifiers, is_same_v<remove_cv_t<remove_reference_t<const device int &>>, int>)
EXACT(made_unsigned,
      is_same_v<make_unsigned_t<short>, ushort> &&is_same_v<make_signed_t<uint>, int>)
EXACT(fixed_width_integers, sizeof(int8_t) == 1 && sizeof(uint16_t) == 2 && sizeof(int64_t) == 8)
EXACT(literals_of_half, sizeof(1.0h) == 2 && 0.5h + 1.h == 1.5h && -1e-1h < 0)

template <typename T> T pick(T a, T b, bool first) {
    return first ? a : b;
}
EXACT(function_templates, pick(1, 2, false) == 2 && pick(float2(1), float2(2), true).y == 1)

template <int N> constexpr int factorial() {
    if constexpr (N <= 1) {
        return 1;
    } else {
        return N * factorial<N - 1>();
    }
}
EXACT(constant_evaluation, factorial<5>() == 120)

template <typename... T> int count(T... values) {
    return (int(values) + ... + 0);
}
EXACT(variadic_templates, count() == 0 && count(1, 2u, half(3)) == 6)

union Bits {
    float number;
    uint bits;
};
EXACT(unions, Bits{1.0f}.bits == 0x3f800000)

enum class Mode : uchar { First, Second = 5 };
EXACT(enumerations, uchar(Mode::Second) == 5 && sizeof(Mode) == 1)

kernel void lambdas(CHECKED) {
    int total = 0;
    auto add = [&](int x) { total += x; };
    for (int i = 1; i < 4; i++)
        add(i);
    CHECK(total == 6);
}

kernel void designated_ranges(CHECKED) {
    int values[8] = {[0 ... 3] = 2, [4 ... 7] = 1};
    int sum = 0;
    for (auto value : values)
        sum += value;
    CHECK(sum == 12);
}

kernel void wide_indices(CHECKED, device uchar *data [[buffer(1)]]) {
    const uint64_t far = (1ul << 33) + 5;
    CHECK(size_t(&data[far] - data) == far);
}

template <typename T> static inline T folded(device const T *items, uint count, T (*fold)(T, T)) {
    T result = items[0];
    for (uint i = 1; i < count; i++)
        result = fold(result, items[i]);
    return result;
}
int larger(int a, int b) {
    return max(a, b);
}
kernel void functions_as_arguments(CHECKED, device int *items [[buffer(1)]],
                                   uint i [[thread_position_in_grid]]) {
    items[4 * i] = 3, items[4 * i + 1] = 7, items[4 * i + 2] = 5;
    CHECK(folded(items + 4 * i, 3, larger) == 7);
}

kernel void bfloats_with_other_numbers(CHECKED) {
    const bfloat a = bfloat(3.0f), b = 2;
    CHECK(a > b && !(a == b) && a != 2 && 3u >= b && b < 2.5f && a <= 3.0f);
    CHECK(is_same_v<decltype(a * 2u), bfloat> && is_same_v<decltype(1 + a), bfloat>);
    CHECK(is_same_v<decltype(a * 2.0f), float> && 2 * a - 1 == 5 && a / b == 1.5f);
}
