// Names that public sources take from Apple's library, and pragmas and attributes of Metal's own.
#include <metal_logging>
#include <metal_simdgroup>
#include <metal_simdgroup_matrix>
#include <metal_uniform>
#pragma METAL internals : enable

constant os_log logger("subsystem", "category");
kernel void logs_nothing(CHECKED) {
    os_log_default.log_debug("a value: %d", 3);
    logger.log("text");
    CHECK(true);
}

kernel void uniforms(CHECKED, constant int *numbers [[buffer(1)]]) {
    uniform<int> four = make_uniform(4);
    int steps = 0;
    for (uniform<int> k = 0; k < four * 2; k = k + 1)
        steps++;
    CHECK(steps == 8 && numbers[four] == 0 && is_same_v<decltype(four + 1u + four), uint>);
}

METAL_FUNC bfloat magnitude(bfloat x) {
    return static_cast<bfloat>(__metal_fabs(static_cast<float>(x), __METAL_MAYBE_FAST_MATH__));
}
kernel void builtins_of_numbers(CHECKED) {
    int exponent;
    CHECK(magnitude(-2.0bf) == 2 && __metal_fmax3(1.0f, 3.0f, 2.0f, __METAL_FAST_MATH__) == 3);
    CHECK(__metal_frexp(12.0f, &exponent) == 0.75f && exponent == 4);
    CHECK(__metal_fma(2.0f, 3.0f, 4.0f) == 10);
}

kernel void builtins_of_groups(CHECKED, uint lane [[thread_index_in_simdgroup]]) {
    CHECK(__metal_simd_shuffle(lane, 0) == 0 && __metal_get_simdgroup_size(ushort()) == 32);
    CHECK(__metal_simd_shuffle_and_fill_up(lane, lane, 1, 32) == lane - (lane > 0) || lane == 0);
}

kernel void validity_of_types(CHECKED) {
    static_assert(__is_valid_simdgroup_type<int>::value, "int");
    static_assert(__is_valid_simdgroup_type<half4>::value, "half4");
    static_assert(!__is_valid_simdgroup_type<long>::value, "long");
    static_assert(_disjunction<is_same<int, float>, is_same<int, int>>::value, "one of them");
    CHECK(true);
}

float careful(float a, float b) {
#pragma METAL fp math_mode(safe)
    return (a + b) - a;
}
kernel void exactness_of_a_block(CHECKED, constant float *zero [[buffer(1)]]) {
    CHECK(careful(1e8f + zero[0], 3.0f + zero[1]) == 0);
}

kernel void pragmas_that_mean_nothing(CHECKED) {
    int sum = 0;
#pragma unroll
    for (int i = 0; i < 4; i++)
        sum += i;
    _Pragma("clang loop unroll(full)") for (int i = 0; i < 4; i++) sum += i;
#pragma METAL fp contract(off)
    CHECK(sum == 12);
}

kernel void neighbours(CHECKED) {
    CHECK(nextafter(1.0f, 2.0f) == 1 + FLT_EPSILON && nextafter(1.0f, 1.0f) == 1);
    CHECK(nextafter(1.0h, 2.0h) == 1.0h + HALF_EPSILON && nextafter(0.0h, -1.0h) < 0);
    CHECK(nextafter(-1.0h, 0.0h) > -1.0h && all(nextafter(float2(0), float2(1)) > 0.0f));
}

// Attributes in whatever place and order.
kernel [[host_name("attributes_before")]] void
attributes_anywhere(CHECKED, [[buffer(1)]] device uint *first, device uint *second [[buffer(2)]],
                    uint i [[thread_position_in_grid]]) {
    first[i] = i;
    second[i] = i + 1;
    CHECK(first[i] + 1 == second[i]);
}

[[max_total_threads_per_threadgroup(64)]] kernel void limit_in_front(CHECKED) {
    CHECK(true);
}

#define MAKE_TWO(NAME, A, B)                                                                       \
    kernel void NAME##_##A(CHECKED, uint lane [[thread_index_in_simdgroup]],                       \
                           uint i [[thread_index_in_threadgroup]],                                 \
                           uint n [[threads_per_threadgroup]]) {                                   \
        const A ones = simd_sum(A(1)), twos = simd_sum(A(2));                                      \
        const uint lanes = min(n - i / 32 * 32, 32u);                                              \
        if (lane % 2) {                                                                            \
            CHECK(simd_sum(A(3)) == A(3 * (lanes / 2)));                                           \
        } else {                                                                                   \
            CHECK(simd_sum(A(5)) == A(5 * ((lanes + 1) / 2)));                                     \
        }                                                                                          \
        CHECK(twos == ones * 2);                                                                   \
    }                                                                                              \
    kernel void NAME##_##B(CHECKED) {                                                              \
        CHECK(sizeof(B) == 2);                                                                     \
    }
MAKE_TWO(in_one_line, float, half)
MAKE_TWO(in_another_line, int, ushort)
