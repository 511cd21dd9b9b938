// Matrices spread over a SIMD-group. Elements are small integers, which no order of sums rounds.
#define WHOLE                                                                                      \
    uint lane [[thread_index_in_simdgroup]], uint i [[thread_index_in_threadgroup]],               \
        uint n [[threads_per_threadgroup]]
#define ONLY_WHOLE_GROUPS                                                                          \
    if (n - i / 32 * 32 < 32) return
// A scratch matrix of the SIMD-group's own.
#define OWN(TYPE)                                                                                  \
    threadgroup TYPE all[32 * 96];                                                                 \
    threadgroup TYPE *own = all + i / 32 * 96

template <typename T> T element(int row, int column) {
    return T((row * 5 + column * 3) % 7 - 3);
}
int row_of(uint lane) {
    const uint quad = lane / 4;
    return (quad & 4) + lane / 2 % 4;
}
int column_of(uint lane) {
    const uint quad = lane / 4;
    return (quad & 2) * 2 + lane % 2 * 2;
}
template <typename T> void fill(threadgroup T *own, uint lane, int stride) {
    for (int k = lane; k < 64; k += 32)
        own[k / 8 * stride + k % 8] = element<T>(k / 8, k % 8);
    simdgroup_barrier(mem_flags::mem_threadgroup);
}
// Of the matrix of element() with itself.
float product(int row, int column) {
    float sum = 0;
    for (int k = 0; k < 8; k++)
        sum += element<float>(row, k) * element<float>(k, column);
    return sum;
}

kernel void lane_layout(CHECKED, WHOLE) {
    ONLY_WHOLE_GROUPS;
    OWN(float);
    fill(own, lane, 8);
    simdgroup_float8x8 a;
    simdgroup_load(a, own);
    const int row = row_of(lane), column = column_of(lane);
    CHECK(a.thread_elements()[0] == own[row * 8 + column]);
    CHECK(a.thread_elements()[1] == own[row * 8 + column + 1]);
}

kernel void load_with_stride_and_origin(CHECKED, WHOLE) {
    ONLY_WHOLE_GROUPS;
    OWN(half);
    fill(own + 12, lane, 9);
    simdgroup_half8x8 a;
    simdgroup_load(a, own, 9, ulong2(3, 1));
    CHECK(a.thread_elements()[1] == element<half>(row_of(lane), column_of(lane) + 1));
}

kernel void load_transposed(CHECKED, WHOLE) {
    ONLY_WHOLE_GROUPS;
    OWN(float);
    fill(own, lane, 10);
    simdgroup_matrix<float, 8, 8> a;
    simdgroup_load(a, own, 10, 0, true);
    CHECK(a.thread_elements()[0] == element<float>(column_of(lane), row_of(lane)));
    CHECK(a.thread_elements()[1] == element<float>(column_of(lane) + 1, row_of(lane)));
}

kernel void store_with_stride_and_origin(CHECKED, WHOLE) {
    ONLY_WHOLE_GROUPS;
    OWN(float);
    simdgroup_float8x8 a;
    a.thread_elements() = float2(lane * 2, lane * 2 + 1);
    simdgroup_store(a, own, 9, ulong2(2, 0));
    simdgroup_barrier(mem_flags::mem_threadgroup);
    CHECK(own[row_of(lane) * 9 + column_of(lane) + 2] == lane * 2);
    CHECK(own[row_of(lane) * 9 + column_of(lane) + 3] == lane * 2 + 1);
}

kernel void store_transposed(CHECKED, WHOLE) {
    ONLY_WHOLE_GROUPS;
    OWN(half);
    simdgroup_half8x8 a;
    a.thread_elements() = half2(lane * 2, lane * 2 + 1);
    simdgroup_store(a, own, 8, ulong2(0, 0), true);
    simdgroup_barrier(mem_flags::mem_threadgroup);
    CHECK(own[row_of(lane) + 8 * column_of(lane)] == half(lane * 2));
    CHECK(own[row_of(lane) + 8 * (column_of(lane) + 1)] == half(lane * 2 + 1));
}

kernel void multiply_loaded(CHECKED, WHOLE) {
    ONLY_WHOLE_GROUPS;
    OWN(float);
    fill(own, lane, 8);
    simdgroup_float8x8 a, b, c;
    simdgroup_load(a, own, 8);
    simdgroup_load(b, own, 8);
    simdgroup_multiply(c, a, b);
    CHECK(c.thread_elements()[0] == product(row_of(lane), column_of(lane)));
    CHECK(c.thread_elements()[1] == product(row_of(lane), column_of(lane) + 1));
}

kernel void multiply_elements(CHECKED, WHOLE) {
    ONLY_WHOLE_GROUPS;
    const int row = row_of(lane), column = column_of(lane);
    simdgroup_float8x8 a, b, c;
    a.thread_elements() = float2(element<float>(row, column), element<float>(row, column + 1));
    b.thread_elements()[0] = a.thread_elements()[0];
    b.thread_elements()[1] = a.thread_elements()[1];
    simdgroup_multiply(c, a, b);
    CHECK(c.thread_elements()[0] == product(row, column));
    CHECK(c.thread_elements()[1] == product(row, column + 1));
}

kernel void accumulate_mixed_types(CHECKED, WHOLE) {
    ONLY_WHOLE_GROUPS;
    OWN(half);
    fill(own, lane, 8);
    const int row = row_of(lane), column = column_of(lane);
    simdgroup_half8x8 a;
    simdgroup_bfloat8x8 b;
    simdgroup_load(a, own, 8);
    b.thread_elements() = bfloat2(element<bfloat>(row, column), element<bfloat>(row, column + 1));
    simdgroup_float8x8 c = make_filled_simdgroup_matrix<float, 8>(0.5f);
    for (int k = 0; k < 3; k++)
        simdgroup_multiply_accumulate(c, a, b, c);
    CHECK(c.thread_elements()[0] == 0.5f + 3 * product(row, column));
    CHECK(c.thread_elements()[1] == 0.5f + 3 * product(row, column + 1));
}

// Half sums round once, at the end.
kernel void accumulate_in_half(CHECKED, WHOLE) {
    ONLY_WHOLE_GROUPS;
    simdgroup_half8x8 a = make_filled_simdgroup_matrix<half, 8, 8>(half(0.25)),
                      b = make_filled_simdgroup_matrix<half, 8, 8>(half(0.5)),
                      c = make_filled_simdgroup_matrix<half, 8, 8>(half(2048));
    simdgroup_multiply_accumulate(c, a, b, c);
    CHECK(c.thread_elements()[0] == half(2049) || c.thread_elements()[0] == half(2048));
    simdgroup_multiply(c, a, b);
    CHECK(c.thread_elements()[1] == half(1));
}

kernel void result_is_also_a_factor(CHECKED, WHOLE) {
    ONLY_WHOLE_GROUPS;
    simdgroup_float8x8 a = make_filled_simdgroup_matrix<float, 8>(1), b = a;
    simdgroup_multiply(a, a, b);
    simdgroup_multiply(b, a, b);
    CHECK(a.thread_elements()[0] == 8 && b.thread_elements()[1] == 64);
}

kernel void diagonals(CHECKED, WHOLE) {
    ONLY_WHOLE_GROUPS;
    OWN(float);
    fill(own, lane, 8);
    simdgroup_float8x8 twice(2.0f), a, c;
    simdgroup_load(a, own);
    simdgroup_multiply(c, twice, a);
    CHECK(c.thread_elements()[0] == 2 * a.thread_elements()[0]);
    simdgroup_multiply(c, a, make_diagonal_simdgroup_matrix<float, 8>(3));
    CHECK(c.thread_elements()[1] == 3 * a.thread_elements()[1]);
}

kernel void operators(CHECKED, WHOLE) {
    ONLY_WHOLE_GROUPS;
    OWN(float);
    fill(own, lane, 8);
    simdgroup_float8x8 a, b;
    simdgroup_load(a, own);
    b = a * a + a - a;
    CHECK(b.thread_elements()[0] == product(row_of(lane), column_of(lane)));
}

// What was loaded is not what is written through a reference that was taken before.
kernel void written_after_load(CHECKED, WHOLE) {
    ONLY_WHOLE_GROUPS;
    OWN(float);
    fill(own, lane, 8);
    simdgroup_float8x8 a, one(1.0f), c;
    thread auto &elements = a.thread_elements();
    simdgroup_load(a, own);
    elements *= 2;
    simdgroup_multiply(c, a, one);
    CHECK(c.thread_elements()[0] == 2 * own[row_of(lane) * 8 + column_of(lane)]);
    simdgroup_float8x8 copy = a;
    copy.thread_elements()[1] = 7;
    simdgroup_multiply(c, copy, one);
    CHECK(c.thread_elements()[1] == 7 && a.thread_elements()[1] != 7);
}

// A matrix takes the place of what it was loaded from.
kernel void stored_in_place(CHECKED, WHOLE) {
    ONLY_WHOLE_GROUPS;
    OWN(float);
    fill(own, lane, 8);
    simdgroup_float8x8 a, c;
    simdgroup_load(a, own);
    simdgroup_multiply(c, a, a);
    simdgroup_store(c, own);
    simdgroup_barrier(mem_flags::mem_threadgroup);
    CHECK(own[lane] == product(lane / 8, lane % 8));
}

kernel void arrays_of_matrices(CHECKED, WHOLE) {
    ONLY_WHOLE_GROUPS;
    OWN(half);
    fill(own, lane, 8);
    simdgroup_half8x8 factors[3];
    simdgroup_float8x8 sums[2][2];
    for (int k = 0; k < 4; k++)
        sums[k / 2][k % 2] = make_filled_simdgroup_matrix<float, 8>(0.0f);
    for (int step = 0; step < 2; step++) {
        for (int k = 0; k < 3; k++)
            simdgroup_load(factors[k], own, 8, ulong2(0, 0), k == 2);
        for (int k = 0; k < 4; k++)
            simdgroup_multiply_accumulate(sums[k / 2][k % 2], factors[k / 2], factors[k % 2],
                                          sums[k / 2][k % 2]);
    }
    CHECK(sums[1][0].thread_elements()[0] == 2 * product(row_of(lane), column_of(lane)));
}

// Sums of products of loaded matrices may wait; whoever looks must not notice.
struct Result {
    simdgroup_float8x8 sum;
    float first() const { return sum.thread_elements()[0]; }
    float second() const {
        thread const auto &elements = sum.thread_elements();
        return elements[1];
    }
};
kernel void looked_at_as_constant(CHECKED, WHOLE) {
    ONLY_WHOLE_GROUPS;
    OWN(float);
    fill(own, lane, 8);
    simdgroup_float8x8 a;
    simdgroup_load(a, own);
    Result result = {make_filled_simdgroup_matrix<float, 8>(0)};
    simdgroup_multiply_accumulate(result.sum, a, a, result.sum);
    CHECK(result.first() == product(row_of(lane), column_of(lane)));
    simdgroup_multiply_accumulate(result.sum, a, a, result.sum);
    CHECK(result.second() == 2 * product(row_of(lane), column_of(lane) + 1));
}

kernel void looked_at_between_products(CHECKED, WHOLE) {
    ONLY_WHOLE_GROUPS;
    OWN(float);
    fill(own, lane, 8);
    const int row = row_of(lane), column = column_of(lane);
    const float once = product(row, column);
    simdgroup_float8x8 a, one(1.0f), c = make_filled_simdgroup_matrix<float, 8>(1.0f), d, e;
    simdgroup_load(a, own);
    for (int k = 0; k < 3; k++)
        simdgroup_multiply_accumulate(c, a, a, c);
    d = c;
    thread auto &elements = d.thread_elements();
    CHECK(elements[0] == 1 + 3 * once);
    simdgroup_multiply_accumulate(d, a, a, d);
    CHECK(elements[0] == 1 + 4 * once);
    elements[0] = 5;
    simdgroup_multiply_accumulate(e, a, a, d);
    CHECK(e.thread_elements()[0] == 5 + once);
    simdgroup_multiply(e, c, one);
    CHECK(e.thread_elements()[0] == 1 + 3 * once);
    simdgroup_multiply_accumulate(e, a, a, c);
    CHECK(e.thread_elements()[1] == 1 + 4 * product(row, column + 1));
    simdgroup_store(c, own);
    simdgroup_barrier(mem_flags::mem_threadgroup);
    CHECK(own[lane] == 1 + 3 * product(lane / 8, lane % 8));
}

kernel void loaded_and_stored_as_it_is(CHECKED, WHOLE) {
    ONLY_WHOLE_GROUPS;
    OWN(float);
    for (int k = lane; k < 64; k += 32)
        own[k] = k % 2 == 0 ? -0.0f : as_type<float>(0x7fc12345u);
    simdgroup_barrier(mem_flags::mem_threadgroup);
    simdgroup_float8x8 a;
    simdgroup_load(a, own);
    simdgroup_store(a, own);
    simdgroup_barrier(mem_flags::mem_threadgroup);
    CHECK(as_type<uint>(own[lane]) == (lane % 2 == 0 ? 0x80000000u : 0x7fc12345u));
}
