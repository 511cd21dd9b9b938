// Construction, swizzles, conversions and operators of vectors.
kernel void swizzles(CHECKED) {
    float4 v = float4(1.0, 2.0, 3.0, 4.0);
    CHECK(v.x == 1 && v.y == 2 && v.z == 3 && v.w == 4);
    CHECK(v.r == 1 && v.g == 2 && v.b == 3 && v.a == 4);
    CHECK(all(v.wzyx == float4(4, 3, 2, 1)));
    CHECK(all(v.bgr == float3(3, 2, 1)));
    CHECK(all(v.xxyy.zw == float2(2, 2)));
    v.xz = v.zx;
    CHECK(all(v == float4(3, 2, 1, 4)));
    v.yw += 10;
    CHECK(all(v == float4(3, 12, 1, 14)));
    v.x++;
    v[2] = 7;
    CHECK(v.x == 4 && v.z == 7);
    v.wzyx = float4(1, 2, 3, 4);
    CHECK(all(v == float4(4, 3, 2, 1)));
}

struct Range {
    uint lo, hi;
};
kernel void halves(CHECKED) {
    float4 v = float4(1, 2, 3, 4);
    CHECK(all(v.lo == float2(1, 2)) && all(v.hi == float2(3, 4)));
    CHECK(all(v.even == float2(1, 3)) && all(v.odd == float2(2, 4)));
    CHECK(v.lo.hi == 2 && v.hi.lo == 3 && v.odd.odd == 4 && v.xyz.lo.y == 2 && v.xyz.even.y == 3);
    v.hi = v.lo;
    v.lo += 10;
    CHECK(all(v == float4(11, 12, 1, 2)));
    int2 pair = int2(5, 6);
    pair.hi += pair.lo;
    CHECK(pair.even == 5 && pair.odd == 11);
    Range range = {1, 2};
    range.lo += range.hi;
    CHECK(range.lo == 3);
}

kernel void construction(CHECKED) {
    CHECK(all(float4(float2(1, 2), 3, 4) == float4(1, 2, 3, 4)));
    CHECK(all(float4(1, float3(2, 3, 4)) == float4(1, 2, 3, 4)));
    CHECK(all(float4(7) == float4(7, 7, 7, 7)));
    uint4 few = {1, 2, 3};
    CHECK(all(few == uint4(1, 2, 3, 0)));
    float3 list = {1.0h, 2, 3.5f};
    CHECK(all(list == float3(1, 2, 3.5)));
    CHECK(all(float4() == 0.0));
    vec<int, 3> named = vec<int, 3>(1, 2, 3);
    CHECK(named[1] == 2);
    CHECK(all(float3(packed_float3(1, 2, 3)) == float3(1, 2, 3)));
    CHECK(sizeof(float3) == 16 && sizeof(half3) == 8 && sizeof(char3) == 4 && sizeof(bool2) == 2);
    CHECK(sizeof(packed_float3) == 12 && sizeof(packed_half3) == 6 && alignof(packed_float4) == 4);
    CHECK(alignof(float4) == 16 && alignof(half4) == 8 && alignof(uchar4) == 4);
}

kernel void conversions(CHECKED) {
    CHECK(all(float4(half4(1.5h, 2, -3, 0.1h)).xyz == float3(1.5, 2, -3)));
    CHECK(all(int3(float3(1.9, -1.9, 7)) == int3(1, -1, 7)));
    CHECK(all(uchar4(int4(1, 255, 256, -1)) == uchar4(1, 255, 0, 255)));
    CHECK(all(bool3(int3(0, 5, -1)) == bool3(false, true, true)));
    CHECK(all(float2(bool2(true, false)) == float2(1, 0)));
    CHECK(all(short4(char4(-1, 2, -3, 4)) == short4(-1, 2, -3, 4)));
    CHECK(as_type<uint>(1.0f) == 0x3f800000);
    CHECK(all(as_type<uchar4>(0x04030201u) == uchar4(1, 2, 3, 4)));
    CHECK(all(as_type<half2>(0x3c004000u) == half2(2, 1)));
    CHECK(all((half3)float3(1, 2, 3) == half3(1, 2, 3)));
    CHECK(long4(1).w == 1);
}

kernel void operators(CHECKED) {
    float3 a = float3(1, 2, 3), b = float3(4, 5, 6);
    CHECK(all(a + b == float3(5, 7, 9)) && all(a * 2 == float3(2, 4, 6)));
    CHECK(all(1 / a.xy == float2(1, 0.5)) && all(-a == float3(-1, -2, -3)));
    int4 i = int4(7, -7, 8, 9);
    CHECK(all(i % 4 == int4(3, -3, 0, 1)) && all(i / 2 == int4(3, -3, 4, 4)));
    CHECK(all((uint2(1, 2) << 3) == uint2(8, 16)) && all(int2(-8, 8) >> 1 == int2(-4, 4)));
    CHECK(all((uint2(6, 5) & 3) == uint2(2, 1)) && all((uint2(6) ^ 5u) == 3) &&
          all(~uint2(0) == ~0u));
    CHECK(all((a < float3(2)) == bool3(true, false, false)) && any(a == b - 3));
    CHECK(all(!bool2(true, false) == bool2(false, true)));
    CHECK(all((bool2(true, false) && bool2(true, true)) == bool2(true, false)));
    a += b;
    a *= 2;
    a -= float3(1, 0, 0);
    CHECK(all(a == float3(9, 14, 18)));
    uchar4 wrap = uchar4(250) + 10;
    CHECK(all(wrap == uchar4(4)));
    half2 h = half2(1, 2) * half2(3) + 1.0h;
    CHECK(all(h == half2(4, 7)));
    ulong2 l = ulong2(1) << 40;
    CHECK(l.y == 1099511627776ul);
}

kernel void packed(CHECKED, device packed_float3 *out [[buffer(1)]]) {
    packed_float3 p = packed_float3(1, 2, 3);
    CHECK(p.x == 1 && all(p.zyx == float3(3, 2, 1)));
    p.xy = float2(5, 6);
    p[2] += 1;
    CHECK(all(p == packed_float3(5, 6, 4)));
    CHECK(all(p * 2 + float3(1) == float3(11, 13, 9)) && all(p - p == 0.0f) && all(2 * p == p + p));
    p += float3(1);
    float3 v = p;
    CHECK(all(v == float3(6, 7, 5)));
    out[1] = v;
    CHECK(((device float *)out)[3] == 6);
    packed_half4 h = half4(float4(1, 2, 3, 4));
    CHECK(float4(half4(h)).w == 4 && float4(h).z == 3);
}

constant float4 TABLE[2] = {float4(1, 2, 3, 4), float4(5)};
constant constexpr float2 PAIR = float2(1, 2) * 3;
static_assert(PAIR[1] == 6, "vectors are constant expressions");
constant int COUNT = 3;

kernel void constants(CHECKED) {
    int bounded[COUNT] = {1, 2, 3};
    CHECK(bounded[COUNT - 1] == 3 && TABLE[0].z == 3 && TABLE[1].x == 5 && PAIR.x == 3);
    const float4 fixed = float4(1, 2, 3, 4);
    CHECK(fixed.y == 2 && fixed[3] == 4 && all(fixed.zw == float2(3, 4)));
}

// Of a vector whose type depends on the template's parameters.
template <typename T, int N> static vec<T, N> changed(vec<T, N> v, T by) {
    v.x += by;
    v.y *= 2;
    v.x++;
    v.yx -= 1;
    v.yx *= v.xy + vec<T, 2>(0, 1);
    return v;
}

kernel void changed_in_templates(CHECKED) {
    // x, y: 1, 2; then 5, 4; then 4, 3; then y = 3 * 4, x = 4 * 4.
    CHECK(all(changed(int2(1, 2), 3) == int2(16, 12)));
    CHECK(all(changed(float3(1, 2, 9), 3.0f) == float3(16, 12, 9)));
    CHECK(all(changed(half4(1, 2, 9, 8), 3.0h) == half4(16, 12, 9, 8)));
    CHECK(all(changed(long2(1, 2), 3l) == long2(16, 12)));
    uint4 bits = 3;
    bits.wy <<= 4;
    bits.zx |= uint2(8, 16);
    CHECK(all(bits == uint4(19, 48, 11, 48)));
    packed_float3 p(1, 2, 3);
    p.zx += 3;
    p.y++;
    CHECK(all(float3(p) == float3(4, 3, 6)));
}

// Rows of odd length put vectors at odd addresses, which GPUs read and write all the same.
kernel void misaligned(CHECKED, device float *data [[buffer(1)]]) {
    for (uint start = 0; start < 4; start++) {
        device float4 *vectors = (device float4 *)(data + start);
        for (uint i = 0; i < 4; i++)
            vectors[i] = float4(i) + float4(0, 1, 2, 3);
        float4 sum = 0;
        for (uint i = 0; i < 4; i++)
            sum += vectors[i];
        CHECK(all(sum == float4(6, 10, 14, 18)));
        device half4 *halves = (device half4 *)((device half *)data + 1 + 2 * start);
        halves[1] = half4(1, 2, 3, 4);
        CHECK(all(float4(halves[1]) == float4(1, 2, 3, 4)));
    }
}
