// Functions of numbers and vectors, against values known to more digits than float has.
kernel void functions(CHECKED) {
    NEAR(exp(1.0), 2.718281828, 3e-7);
    NEAR(exp2(0.5), 1.414213562, 2e-7);
    NEAR(exp10(2.0), 100.0, 2e-5);
    NEAR(log(10.0), 2.302585093, 3e-7);
    NEAR(log2(10.0), 3.321928095, 3e-7);
    NEAR(log10(2.0), 0.301029996, 1e-7);
    NEAR(sin(1.0), 0.841470985, 1e-7);
    NEAR(cos(1.0), 0.540302306, 1e-7);
    NEAR(tan(1.0), 1.557407725, 2e-7);
    NEAR(sinpi(0.25), 0.707106781, 1e-7);
    NEAR(cospi(1e6 + 1.0), -1.0, 1e-6);
    NEAR(tanpi(0.25), 1.0, 2e-7);
    NEAR(asin(1.0), M_PI_2_F, 2e-7);
    NEAR(acos(-1.0), M_PI_F, 3e-7);
    NEAR(atan2(1.0, -1.0), 2.356194490, 3e-7);
    NEAR(sinh(1.0) * sinh(1.0) + 1, cosh(1.0) * cosh(1.0), 1e-6);
    NEAR(tanh(0.5), 0.462117157, 1e-7);
    NEAR(atanh(0.5), 0.549306144, 1e-7);
    NEAR(asinh(1.0), 0.881373587, 2e-7);
    NEAR(acosh(2.0), 1.316957897, 2e-7);
    NEAR(pow(2.0, 10), 1024.0, 1e-3);
    NEAR(powr(9.0, 0.5), 3.0, 3e-7);
    NEAR(rsqrt(4.0), 0.5, 1e-7);
    NEAR(fast::exp(1.0) + precise::exp(1.0) + metal::fast::divide(1.0, 2.0), 5.936563657, 1e-6);
    NEAR(exp(half(1)), 2.71828, 2e-3);
    NEAR(fma(2.0, 3.0, 4.0), 10.0, 0);
    NEAR(float(sqrt(16)), 4.0, 0);
}

kernel void infinities(CHECKED) {
    const float huge = INFINITY;
    CHECK(exp(-huge) == 0 && isinf(huge) && isinf(-huge) && !isfinite(huge) && -huge < -FLT_MAX);
    CHECK(isnan(NAN) && !isnan(huge) && isnan(huge - huge) && !isnormal(0.0f) && signbit(-1.0f));
    CHECK(max(-huge, 2.0f) == 2 && max(NAN, 2.0f) == 2 && min(2.0f, NAN) == 2 && fmax(NAN, 1) == 1);
    CHECK(all(isinf(float2(huge, 1)) == bool2(true, false)));
    CHECK(isunordered(1.0f, NAN) && isordered(1.0f, 2.0f));
    CHECK(isinf(float(half(70000.0f))) && half(65504.0f) == MAXHALF && isinf(HUGE_VALH));
}

kernel void rounding(CHECKED) {
    CHECK(floor(-1.5) == -2 && ceil(-1.5) == -1 && trunc(-1.5) == -1 && round(-1.5) == -2);
    CHECK(rint(2.5) == 2 && rint(3.5) == 4 && fract(-0.25) == 0.75 && fract(1e-10f - 1.0f) < 1);
    float whole, cosine;
    int exponent;
    CHECK(modf(-2.75, whole) == -0.75 && whole == -2);
    CHECK(frexp(12.0f, exponent) == 0.75f && exponent == 4 && ldexp(0.75, 4) == 12);
    CHECK(ilogb(9.0f) == 3 && logb(9.0f) == 3 && fmod(7.5, 2) == 1.5 && fdim(3.0, 5.0) == 0);
    NEAR(sincos(1.0f, cosine), 0.841470985, 1e-7);
    NEAR(cosine, 0.540302306, 1e-7);
    CHECK(copysign(2.0f, -1.0f) == -2 && sign(-3.0f) == -1 && sign(0.0f) == 0 && sign(NAN) == 0);
}

kernel void common(CHECKED) {
    CHECK(clamp(5, 0, 3) == 3 && clamp(-1.5f, -1, 1) == -1 && saturate(2.0f) == 1);
    CHECK(all(clamp(float3(-1, 0.5, 2), 0.0, 1.0) == float3(0, 0.5, 1)));
    CHECK(mix(1.0f, 3.0f, 0.5f) == 2 && all(mix(float2(0), float2(2, 4), 0.5) == float2(1, 2)));
    CHECK(step(1.0f, 0.5f) == 0 && smoothstep(0.0f, 1.0f, 0.5f) == 0.5f);
    CHECK(abs(-3) == 3 && abs(-3.5) == 3.5 && abs(3u) == 3 && all(abs(int2(-1, 1)) == 1));
    CHECK(min(1u, 2) == 1 && max(short(3), 2) == 3 && max(3, 2.5f) == 3 && min(half(1), 2.0h) == 1);
    CHECK(min3(3, 1, 2) == 1 && max3(3, 1, 2) == 3 && median3(3, 1, 2) == 2);
    CHECK(all(max(float4(1, 2, 3, 4), 2.5) == float4(2.5, 2.5, 3, 4)));
    CHECK(select(1, 2, true) == 2 &&
          all(select(int2(1), int2(2), bool2(true, false)) == int2(2, 1)));
    CHECK(min(-1l, 1l) == -1 && max(ulong(1) << 40, 3ul) == 1ul << 40);
}

kernel void geometry(CHECKED) {
    const float3 a = float3(1, 2, 3), b = float3(4, -5, 6);
    CHECK(dot(a, b) == 12 && all(cross(a, b) == float3(27, 6, -13)));
    CHECK(length(float2(3, 4)) == 5 && distance(float2(1, 1), float2(4, 5)) == 5);
    CHECK(length_squared(a) == 14 && dot(half2(1, 2), half2(3, 4)) == 11);
    NEAR(length(normalize(b)), 1.0, 2e-7);
    CHECK(all(reflect(float2(1, -1), float2(0, 1)) == float2(1, 1)));
}

kernel void integers(CHECKED) {
    CHECK(clz(1u) == 31 && ctz(8) == 3 && popcount(0xffu) == 8 && clz(ushort(1)) == 15);
    CHECK(ctz(0u) == 32 && clz(0) == 32 && reverse_bits(1u) == 0x80000000u);
    CHECK(mulhi(0xffffffffu, 2u) == 1 && mulhi(-1, 2) == -1 && mulhi(1ul << 63, 4ul) == 2);
    CHECK(addsat(uchar(200), uchar(100)) == 255 && subsat(1u, 2u) == 0 && subsat(-128, 1) == -129);
    CHECK(subsat(char(-128), char(1)) == -128 && hadd(3, 4) == 3 && rhadd(3, 4) == 4);
    CHECK(rotate(0x80000001u, 1u) == 3 && absdiff(3u, 5u) == 2 && mad24(2, 3, 4) == 10);
    CHECK(extract_bits(0xabcdu, 4u, 8u) == 0xbc && extract_bits(-2, 0u, 4u) == -2);
    CHECK(insert_bits(0xffffu, 0u, 4u, 8u) == 0xf00f);
    CHECK(all(popcount(uint2(1, 3)) == uint2(1, 2)));
}

kernel void matrices(CHECKED) {
    const float2x3 m = float2x3(float3(1, 2, 3), float3(4, 5, 6));
    CHECK(m[1][2] == 6 && all(m * float2(1, 2) == float3(9, 12, 15)));
    CHECK(all(float3(1, 0, 1) * m == float2(4, 10)));
    const float3x2 t = transpose(m);
    CHECK(t[2][1] == 6 && (t * m)[0][0] == 14 && (m * 2.0f)[0][1] == 4);
    float4x4 identity = float4x4(1.0);
    CHECK(all(identity * float4(1, 2, 3, 4) == float4(1, 2, 3, 4)) && determinant(identity) == 1);
    identity[3] = float4(1);
    CHECK(identity[3].x == 1 && half4x4(identity)[3][1] == 1.0h);
    CHECK(determinant(float3x3(2, 0, 0, 0, 3, 0, 0, 0, 4)) == 24);
}

kernel void limits(CHECKED) {
    static_assert(numeric_limits<half>::max() == 65504.0h, "half");
    static_assert(numeric_limits<float>::infinity() > FLT_MAX, "float");
    static_assert(numeric_limits<uint>::max() == 0xffffffff, "uint");
    static_assert(UINT_MAX == 0xffffffff && INT_MIN + 1 == -INT_MAX &&
                      LONG_MAX == long(ULONG_MAX / 2) && SHRT_MIN == -32768 && UCHAR_MAX == 255 &&
                      CHAR_BIT == 8,
                  "integers");
    static_assert(numeric_limits<short>::lowest() == -32768, "short");
    CHECK(float(numeric_limits<bfloat>::lowest()) == -0x1.fep127f);
    CHECK(numeric_limits<float>::min() == FLT_MIN &&
          numeric_limits<half>::epsilon() == HALF_EPSILON);
}

kernel void brains(CHECKED) {
    bfloat a = bfloat(1.0f), b = bfloat(3.14159f);
    CHECK(float(b) == 3.140625f && float(a + b) == 4.125f && a * 2.0f == 2.0f && -a < b);
    b = 3;
    b += a;
    CHECK(float(b) == 4 && half(b) == 4.0h && float(bfloat(2.0h)) == 2 && float(0.5bf) == 0.5);
    CHECK(exp(bfloat(0)) == 1 && isnan(float(bfloat(NAN))) && isinf(float(bfloat(INFINITY))));
    CHECK(float(bfloat(1.00390625f)) == 1 && float(bfloat(1.01171875f)) == 1.015625f);
    bfloat4 v = bfloat4(float4(1, 2, 3, 4));
    CHECK(all(float4(v + v) == float4(2, 4, 6, 8)) && float(v.z) == 3 && sizeof(v) == 8);
}
