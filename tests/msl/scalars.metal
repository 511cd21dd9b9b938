// What numbers and vectors are made of: traits, limits, and functions of arguments of several
// types.
#include <metal_initializer_list>
#include <metal_numeric>
#include <metal_utility>
#include <metal_visible_function_table>
// A text may open this namespace; what Metal has in it is refused.
using namespace metal::raytracing;

kernel void traits_of_vectors(CHECKED) {
    static_assert(is_integral_v<int4> && !is_integral_v<float2> && is_integral_v<const uchar4>, "");
    static_assert(is_floating_point_v<half4> && is_floating_point_v<packed_float3>, "");
    static_assert(is_arithmetic_v<float3> && is_signed_v<int2> && is_unsigned_v<uint3>, "");
    static_assert(!is_class_v<float4> && !is_scalar_v<float4>, "");
    CHECK(true);
}

kernel void traits_of_scalars(CHECKED) {
    static_assert(is_floating_point_v<const half> && is_floating_point_v<const bfloat>, "");
    static_assert(is_scalar_v<bfloat> && !is_class_v<bfloat>, "");
    static_assert(is_lvalue_reference_v<thread int &> && is_rvalue_reference_v<int &&>, "");
    static_assert(negation_v<false_type> && !negation<is_same<int, int>>::value, "");
    static_assert(is_same_v<metal::uint8_t, uchar> && is_same_v<metal::int64_t, int64_t>, "");
    CHECK(true);
}

kernel void limits(CHECKED) {
    static_assert(numeric_limits<float>::max_digits10 == 9 && numeric_limits<float>::is_iec559, "");
    static_assert(numeric_limits<half>::digits10 == 3 && numeric_limits<half>::max_digits10 == 5,
                  "");
    static_assert(numeric_limits<bfloat>::digits10 == 2 && numeric_limits<bfloat>::is_bounded, "");
    static_assert(numeric_limits<float>::min_exponent10 == FLT_MIN_10_EXP, "");
    static_assert(numeric_limits<half>::max_exponent10 == HALF_MAX_10_EXP, "");
    static_assert(numeric_limits<uint>::is_modulo && !numeric_limits<int>::is_modulo, "");
    static_assert(numeric_limits<int>::denorm_min() == 0 && !numeric_limits<bool>::epsilon(), "");
    static_assert(BFLT_MANT_DIG == numeric_limits<bfloat>::digits && HALF_DIG == 2, "");
    CHECK(BFLT_MAX == numeric_limits<bfloat>::max() && BFLT_MIN == numeric_limits<bfloat>::min());
    CHECK(BFLT_EPSILON == numeric_limits<bfloat>::epsilon());
}

kernel void exponents_of_nothing(CHECKED, constant float *zero [[buffer(1)]]) {
    CHECK(ilogb(zero[0]) == FP_ILOGB0 && ilogb(NAN) == FP_ILOGBNAN && ilogb(8.0f) == 3);
}

template <int... I> int total(integer_sequence<int, I...>) {
    return (0 + ... + I);
}
kernel void sequences_and_lists(CHECKED) {
    int sum = 0;
    for (const int number : {1, 2, 3})
        sum += number;
    const metal::initializer_list<float> two = {1.0f, 2.0f};
    CHECK(sum == 6 && two.size() == 2 && total(make_integer_sequence<int, 5>()) == 10);
    assert(sum == 7);
    CHECK(metal::move(sum) == 6);
}

constant array<float, 3> NUMBERS = {{1, 2, 3}};
kernel void references_to_arrays(CHECKED) {
    const array_ref<constant float> all = make_array_ref(NUMBERS);
    const float own[] = {4, 5};
    CHECK(all.size() == 3 && all[2] == 3 && make_array_ref(own).back() == 5);
}

kernel void arguments_of_indirect_dispatches(CHECKED) {
    MTLDispatchThreadgroupsIndirectArguments arguments = {{1, 2, 3}};
    CHECK(sizeof(arguments) == 12 && arguments.threadgroupsPerGrid[2] == 3);
    CHECK((mem_flags::mem_device ^ mem_flags::mem_device) == mem_flags::mem_none);
}

kernel void functions_of_bfloats_are_of_float(CHECKED) {
    const bfloat x = -2.0bf;
    static_assert(is_same_v<decltype(abs(x)), float>, "");
    static_assert(is_same_v<decltype(clamp(x, -1.0bf, 1.0bf)), float>, "");
    CHECK(abs(x) == 2 && clamp(x, -1.0bf, 1.0bf) == -1 && clamp(x, 0.0f, 1.0f) == 0);
    CHECK(fma(x, x, 1.0f) == 5 && fmax3(x, 1.0f, 0.5f) == 1 && max(x, x) == -2);
}

kernel void a_half_beside_an_integer_stays_one(CHECKED) {
    static_assert(is_same_v<decltype(pow(2.0h, 2)), half>, "");
    static_assert(is_same_v<decltype(fma(2.0h, 2.0h, 1)), half>, "");
    CHECK(pow(2.0h, 3) == 8 && fmin3(1.0f, 2, 3) == 1 && fmedian3(1.0h, 3.0h, 2) == 2);
}

kernel void vectors_beside_scalars(CHECKED) {
    CHECK(all(absdiff(int2(1, 7), 4) == 3u) && all(rotate(uint2(1, 2), 3u) == uint2(8, 16)));
    CHECK(all(addsat(uchar4(250), 9) == uchar4(255)) && all(hadd(4, int2(2, 6)) == int2(3, 5)));
    CHECK(all(mad24(int2(2), 3, 4) == 10) && all(madsat(short2(200), 200, 1) == short2(32767)));
    CHECK(all(madhi(uint2(1u << 31), 2u, 3u) == 4u) &&
          all(ldexp(float2(1, 3), 2) == float2(4, 12)));
    CHECK(all(refract(half2(0, -1), half2(0, 1), 1.0) == half2(0, -1)));
}

kernel void functions_of_packed_vectors(CHECKED) {
    const packed_float3 p = {3, 0, 4}, q = {0, 1, 0};
    CHECK(length(p) == 5 && dot(p, p) == 25 && distance(p, float3(3, 0, 0)) == 4);
    CHECK(all(cross(q, float3(0, 0, 1)) == float3(1, 0, 0)) && fast::length(p) == 5);
    CHECK(all(max(p, q) == float3(3, 1, 4)) && all(clamp(p, 1.0f, 3.0f) == float3(3, 1, 3)));
    CHECK(all(mix(p, float3(1), 0.5f) == float3(2, 0.5, 2.5)) && all(abs(-p) == p));
    CHECK(all(fma(p, q, p) == float3(3, 0, 4)) && all(exp2(q) == float3(1, 2, 1)));
    CHECK(all(select(p, q, p > 3.0f) == float3(3, 0, 0)) && !any(isnan(p)));
    CHECK(all(popcount(packed_uint2(3, 7)) == uint2(2, 3)));
}

kernel void operators_of_packed_vectors(CHECKED) {
    const packed_uint2 bits = uint2(1, 2);
    CHECK(all(~bits == uint2(-2, -3)) && all(!packed_bool2(false)));
    CHECK(all((bits > 1u || bits < 2u) && bits != 0u));
}
