// Matrices from lists of columns in braces, wherever a value may stand.
constant float2x2 TABLE[2] = {{{1, 2}, {3, 4}}, {float2(5, 6), {7, 8}}};
constant half3x4 TALL = {{1, 2, 3, 4}, {5, 6, 7, 8}, {9, 10, 11, 12}};

struct Pose {
    float3x3 rotation;
    float2x2 scale;
};

float sum(float2x2 m) {
    return m[0].x + m[0].y + m[1].x + m[1].y;
}
float2x2 counted(float from) {
    return {{from, from + 1}, {from + 2, from + 3}};
}

kernel void tables_of_matrices(CHECKED) {
    CHECK(TABLE[0][1].x == 3 && TABLE[1][0].y == 6 && TABLE[1][1].x == 7 && TALL[2][3] == 12.0h);
}

kernel void columns_in_braces(CHECKED) {
    const float2x2 m = {{1, 2}, {3, 4}}, direct{{1, 2}, {3, 4}};
    CHECK(m == direct && m[0].y == 2 && m[1].x == 3);
    CHECK((float2x2({1, 2}, {3, 4}) == m && float2x2(float2(1, 2), {3, 4}) == m));
    const float4x4 unit = {{1, 0, 0, 0}, {0, 1, 0, 0}, {0, 0, 1, 0}, {0, 0, 0, 1}};
    CHECK(unit == float4x4(1));
    const half2x3 wide = {{1.0h, 2.0h, 3.0h}, {4.0h, 5.0h, 6.0h}};
    CHECK(wide[1].z == 6.0h && transpose(wide)[2].x == 3.0h);
}

kernel void braces_as_arguments_and_members(CHECKED) {
    const Pose pose = {{{1, 2, 3}, {4, 5, 6}, {7, 8, 9}}, {{1, 2}, {3, 4}}};
    CHECK(pose.rotation[2].z == 9 && pose.scale[1].x == 3);
    CHECK(sum({{1, 2}, {3, 4}}) == 10 && sum(counted(2)) == 14);
    float2x2 m;
    m = {{5, 6}, {7, 8}};
    CHECK(m[1].y == 8);
    const float3x3 both[2] = {float3x3(2), {{1, 2, 3}, {4, 5, 6}, {7, 8, 9}}};
    CHECK(both[0][1].y == 2 && both[1][2].x == 7);
}

kernel void scalars_one_by_one(CHECKED) {
    const float2x2 m = {1, 2, 3, 4}, none = {};
    CHECK(m[1].x == 3 && m == float2x2(1, 2, 3, 4) && sum(none) == 0 && sum(float2x2()) == 0);
}
