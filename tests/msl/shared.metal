// What headers shared with hosts name, and traits and functions of Apple's library beside the
// usual.
#include <metal_pack>
#include <simd/simd.h>

typedef struct {
    vector_float3 direction;
    simd_float4 color;
    matrix_float4x4 transform;
    simd_half2 weights;
    vector_uint2 size;
    simd_int1 count;
} Scene;
kernel void shared_types(CHECKED) {
    CHECK(sizeof(Scene) == 128 && is_same_v<vector_float3, float3> && is_same_v<simd_half2, half2>);
    CHECK(is_same_v<matrix_float4x4, simd_float4x4> && is_same_v<simd_float4x4, float4x4>);
    Scene scene = {};
    scene.transform = simd::float4x4(2.0f);
    scene.color = scene.transform * simd_float4(1, 2, 3, 4);
    CHECK(all(scene.color == simd::float4(2, 4, 6, 8)) &&
          simd::dot(scene.color, simd_float4(1)) == 20);
}

kernel void vector_traits(CHECKED) {
    static_assert(vec_elements<float3>::value == 3 && vec_elements<packed_half4>::value == 4, "");
    static_assert(vec_elements<float>::value == 0 && vec_elements<const uint2>::value == 2, "");
    static_assert(is_vector_v<packed_int2> && is_vector<half4>::value && !is_vector_v<half>, "");
    static_assert(is_same_v<make_scalar_t<uchar4>, uchar>, "");
    static_assert(is_same_v<make_scalar_t<const float>, float>, "");
    static_assert(is_same_v<make_unsigned_t<short3>, ushort3>, "");
    static_assert(is_same_v<make_signed_t<packed_uint2>, packed_int2>, "");
    static_assert(conjunction_v<is_same<int, int>, true_type> && !conjunction_v<false_type>, "");
    static_assert(disjunction<false_type, true_type>::value && !disjunction_v<>, "");
    static_assert(is_integral_v<int4> && !is_integral_v<half2> && is_arithmetic_v<uchar3>, "");
    static_assert(is_floating_point_v<float2> && is_floating_point<bfloat4>::value, "");
    static_assert(!is_scalar_v<int4> && is_scalar_v<bfloat> && is_scalar_v<half>, "");
    static_assert(is_trivially_copyable_v<float> && is_assignable_v<int &, float>, "");
    CHECK(true);
}

// A text's own function of integers, single or in vectors.
template <typename T, typename = enable_if_t<is_integral_v<T>>> T sign(T x) {
    return select(select(T(-1), T(1), x > T(0)), T(0), x == T(0));
}
kernel void own_function_of_integers(CHECKED) {
    CHECK(all(sign(int3(-5, 0, 7)) == int3(-1, 0, 1)) && sign(-2) == -1 && sign(-2.0f) == -1);
}

// Of a list in braces.
template <typename T, size_t Count> struct List {
    T items[Count];

    List(initializer_list<T> from) thread { *this = from; }
    thread List &operator=(initializer_list<T> from) thread {
        size_t i = 0;
        for (auto item : from)
            items[i++] = item;
        return *this;
    }
};
kernel void lists_in_braces(CHECKED) {
    List<uint, 3> list = {1, 2, 3};
    CHECK(list.items[2] == 3);
    list = {4, 5};
    CHECK(list.items[0] == 4 && list.items[1] == 5 && list.items[2] == 3);
}

template <typename T, int N> struct Fragment {
    typedef vec<T, N> Elements;
    Elements elements;
};
kernel void wide_vectors(CHECKED, device vec<half, 8> *data [[buffer(1)]],
                         uint lane [[thread_index_in_simdgroup]]) {
    Fragment<float, 8> sum = {0.0f};
    for (short i = 0; i < 8; i++)
        sum.elements[i] += i;
    const vec<float, 8> twice = sum.elements * 2 + vec<float, 8>(1);
    data[lane] = vec<half, 8>(twice);
    CHECK(data[lane][7] == 15 && max(twice, 3.0f)[0] == 3 && (twice > 5.0f)[3] &&
          !(twice > 5.0f)[2]);
    CHECK(sizeof(vec<bfloat, 16>) == 32 && vec<bfloat, 16>(bfloat(3))[15] == 3);
    CHECK(vec_elements<vec<uchar, 16>>::value == 16 && vec<int, 8>(1, 2)[1] == 2);
    CHECK(__metal_get_thread_index_in_simdgroup(ushort()) == lane);
}

kernel void packed_fractions(CHECKED) {
    CHECK(pack_float_to_unorm4x8(float4(0, 1, 0.5f, 2)) == 0xff80ff00);
    CHECK(pack_half_to_snorm4x8(half4(-1, 1, 0, -3)) == 0x81007f81);
    CHECK(pack_float_to_unorm2x16(float2(1, 0)) == 0xffff);
    CHECK(pack_float_to_snorm2x16(float2(0, -1)) == 0x80010000);
    CHECK(pack_float_to_unorm10a2(float4(1, 0, 1, 1)) == 0xfff003ff);
    CHECK(pack_float_to_unorm565(float3(1, 0, 0)) == 0x1f);
    CHECK(pack_half_to_unorm565(half3(0, 1, 0)) == 0x7e0);
    CHECK(pack_float_to_srgb_unorm4x8(float4(0.5f, 0, 1, 0.5f)) == 0x80ff00bc);
    CHECK(all(unpack_snorm4x8_to_float(0x81007f80) == float4(-1, 1, 0, -1)));
    CHECK(all(unpack_unorm2x16_to_half(0xffff0000) == half2(0, 1)));
    CHECK(all(unpack_unorm565_to_float(0x1f) == float3(1, 0, 0)));
    CHECK(all(unpack_unorm10a2_to_float(0xc00003ff) == float4(1, 0, 0, 1)));
    NEAR(unpack_unorm4x8_to_float(0x33).x, 0.2f, 1e-6f);
    NEAR(unpack_unorm4x8_srgb_to_float(0xbc).x, 0.5029f, 1e-4f);
    for (uint code = 0; code < 256; code++)
        CHECK(pack_float_to_srgb_unorm4x8(unpack_unorm4x8_srgb_to_float(code * 0x10101)) ==
              code * 0x10101);
}

kernel void bits_of_vectors(CHECKED) {
    CHECK(all(extract_bits(uint3(0xf0, 0x10, 0), 4, 4) == uint3(15, 1, 0)));
    CHECK(all(extract_bits(short2(0x70, 0x80), 4, 4) == short2(7, -8)));
    CHECK(all(insert_bits(int2(0, -1), int2(5), 1, 3) == int2(10, -5)));
    CHECK(all(madsat(uchar4(200, 2, 3, 16), uchar4(2, 3, 4, 16), uchar4(0, 1, 2, 0)) ==
              uchar4(255, 7, 14, 255)));
}

kernel void exactness_by_name(CHECKED) {
    CHECK(fast::max3(1.0f, 3.0f, 2.0f) == 3 && precise::fmin3(1.0f, 3.0f, 2.0f) == 1);
    CHECK(fast::median3(1.0f, 3.0f, 2.0f) == 2 && fast::length(float2(3, 4)) == 5);
    NEAR(precise::normalize(float3(0, 0, 9)).z, 1, 1e-6f);
    CHECK(precise::distance(float2(1, 1), float2(4, 5)) == 5);
}

template <typename T> T largest(T value) {
    return simd_max(value);
}
kernel void brains_meet(CHECKED, constant uchar *zeros [[buffer(1)]],
                        uint lane [[thread_index_in_simdgroup]],
                        uint size [[threads_per_simdgroup]]) {
    const bfloat mine = bfloat(lane == 0 ? 0.5f : -1.0f);
    CHECK(largest(mine) == bfloat(0.5f));
    const bfloat least = simd_min(mine);
    CHECK(least == mine || least == -1 || size == 1);
    CHECK(select(mine, bfloat(3), zeros[0]) == mine && select(mine, bfloat(3), 7l) == 3);
    CHECK(MAXBFLOAT < HUGE_VALBF && M_PI_BF == bfloat(M_PI_F));
}

kernel void elements_elsewhere(CHECKED) {
    const array<int, 3> numbers = {1, 2, 3};
    const array_ref<int> seen(numbers);
    CHECK(seen.size() == 3 && seen[1] == 2 && seen.back() == 3 && numbers.max_size() == 3);
    CHECK(array_ref<int>().empty());
    threadgroup_barrier(mem_flags::mem_device_and_threadgroup);
}

// Metal has each function once for each type: scalars beside vectors become vectors.
kernel void scalars_beside_vectors(CHECKED, constant float *zeros [[buffer(1)]]) {
    const float3 v = zeros[0] + float3(0.25f, 2, -1);
    CHECK(all(clamp(v, 0, 1) == float3(0.25f, 1, 0)));
    CHECK(all(clamp(0.5f, v, 3) == float3(0.5f, 2, 0.5f)));
    CHECK(all(mix(v, 1, 0.5f) == float3(0.625f, 1.5f, 0)));
    CHECK(all(mix(0, v, 2) == float3(0.5f, 4, -2)));
    CHECK(all(smoothstep(0, 1, v) == float3(0.15625f, 1, 0)));
    CHECK(smoothstep(0, 1, v.x) == 0.15625f && smoothstep(0.0h, 1.0h, 0.5h) == 0.5h);
    CHECK(all(fma(v, 2, 1) == float3(1.5f, 5, -1)) && all(fma(2, v, v) == 3 * v));
    CHECK(all(select(0, v, v > 0) == float3(0.25f, 2, 0)));
    CHECK(all(select(half2(1, 2), 3, bool2(true, false)) == half2(3, 2)));
    CHECK(all(clamp(uint2(1, 9), 2, 5) == uint2(2, 5)));
}

// A half has no instruction of its own for this on most CPUs.
kernel void fused_halves(CHECKED, device half *data [[buffer(1)]]) {
    const half zero = data[0], third = zero + 0.3333h;
    CHECK(fma(third, third, zero - 0.111h) == half(float(third) * third - float(0.111h)));
    CHECK(all(fma(half2(third, 2), half2(zero, 3), half2(1, zero)) == half2(1, 6)));
}

template <typename T> T rectified(T x) {
    return x < 0 ? 0 : x;
}
kernel void brains_and_integers(CHECKED, constant int *zeros [[buffer(1)]]) {
    bfloat x = bfloat(2.5f);
    CHECK(rectified(x) == x && rectified(-x) == 0 && rectified(3) == 3);
    CHECK(is_same_v<decltype(true ? x : 1), bfloat> && is_same_v<decltype(true ? x : 1.0f), float>);
    CHECK(int(x) == 2 && static_cast<uchar>(x) == 2 && bool(x) && !(x && zeros[0]));
    int exponent;
    CHECK(sign(-x) == -1 && saturate(x) == 1 && frexp(x, exponent) == 0.625f && exponent == 2);
    CHECK(max3(x, -x, x) == 2.5f && median3(1, 5, 3) == 3);
    x = zeros[0];
    CHECK(!x && x++ == 0 && --x == 0 && (x += 3) == 3);
    uint index = 7;
    if (zeros[0]) index = x;
    float sum = 0.5f;
    sum += x;
    half product = 2;
    product *= x;
    CHECK(index == 7 && sum == 3.5f && product == 6 && +x == 3 && 2.0f * x == 6 &&
          x / 2.0h == 1.5f);
    CHECK(x < 3.5f && 2.5h < x && x == 3.0f && is_same_v<decltype(x * 1.0h), float>);
}
