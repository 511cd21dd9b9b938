// What the shaders use of <metal_simdgroup_matrix>: matrices of 8 by 8 whose elements lie in the
// lanes of a warp, two in each, side by side. It is included inside namespace msl.

template <typename T, int COLUMNS, int ROWS> struct simdgroup_matrix {
    static_assert(COLUMNS == 8 && ROWS == 8, "Metal has no others");
    T elements[2];
};
using simdgroup_float8x8 = simdgroup_matrix<float, 8, 8>;
using simdgroup_half8x8 = simdgroup_matrix<half, 8, 8>;

inline int matrix_row() {
    return int(linear_thread_index() % 32) / 4;
}
inline int matrix_column(int i) {
    return int(linear_thread_index() % 4) * 2 + i;
}

template <typename T, int SIDE>
simdgroup_matrix<T, SIDE, SIDE> make_filled_simdgroup_matrix(T value) {
    return {{value, value}};
}

template <typename T>
void simdgroup_load(simdgroup_matrix<T, 8, 8> &to, const T *from, ulong row_stride,
                    ulong /* origin */ = 0, bool transposed = false) {
    for (int i = 0; i < 2; i++) {
        const ulong row = transposed ? matrix_column(i) : matrix_row();
        const ulong column = transposed ? matrix_row() : matrix_column(i);
        to.elements[i] = from[row * row_stride + column];
    }
}

template <typename T>
void simdgroup_store(const simdgroup_matrix<T, 8, 8> &from, T *to, ulong row_stride) {
    for (int i = 0; i < 2; i++)
        to[matrix_row() * row_stride + matrix_column(i)] = from.elements[i];
}

template <typename T>
void simdgroup_multiply_accumulate(simdgroup_matrix<float, 8, 8> &result,
                                   const simdgroup_matrix<T, 8, 8> &left,
                                   const simdgroup_matrix<T, 8, 8> &right,
                                   const simdgroup_matrix<float, 8, 8> &addend) {
    float sums[2] = {addend.elements[0], addend.elements[1]};
    for (int k = 0; k < 8; k++) {
        const T from_left = left.elements[k % 2];
        const float factor = float(__shfl_sync(ALL_LANES, from_left, matrix_row() * 4 + k / 2));
        for (int i = 0; i < 2; i++) {
            const int owner = k * 4 + matrix_column(0) / 2;
            sums[i] += factor * float(__shfl_sync(ALL_LANES, right.elements[i], owner));
        }
    }
    result.elements[0] = sums[0];
    result.elements[1] = sums[1];
}
