// Copies of matrices into rows without gaps, converted to what products are computed in.
#pragma once

namespace __msl {

constexpr int VECTOR = 16;  // elements; the compiler cuts it up where registers are shorter
template <class A> using vector __attribute__((ext_vector_type(VECTOR))) = A;

template <class A> struct square {
    vector<A> row[VECTOR];
};

// Four rounds that deal the rows like two halves of a pack of cards.
template <class A> inline square<A> transposed(square<A> from) {
    for (int round = 1; round < VECTOR; round *= 2) {
        square<A> to;
#pragma clang loop unroll(full)
        for (int i = 0; i < VECTOR / 2; i++) {
            const vector<A> low = from.row[i], high = from.row[i + VECTOR / 2];
            to.row[2 * i] = __builtin_shufflevector(low, high, 0, 16, 1, 17, 2, 18, 3, 19, 4, 20, 5,
                                                    21, 6, 22, 7, 23);
            to.row[2 * i + 1] = __builtin_shufflevector(low, high, 8, 24, 9, 25, 10, 26, 11, 27, 12,
                                                        28, 13, 29, 14, 30, 15, 31);
        }
        from = to;
    }
    return from;
}

template <class A, class T> inline vector<A> load_vector(const T *from) {
    A values[VECTOR];
    for (int i = 0; i < VECTOR; i++)
        values[i] = widen<A>(from[i]);
    vector<A> result;
    __builtin_memcpy(&result, values, sizeof result);
    return result;
}

// A square of a matrix whose columns lie without gaps.
template <class A, class T>
inline void pack_square(A *to, ptrdiff_t pitch, const T *from, ptrdiff_t column_stride) {
    square<A> columns;
    for (int i = 0; i < VECTOR; i++)
        columns.row[i] = load_vector<A>(from + i * column_stride);
    const square<A> rows = transposed(columns);
    for (int i = 0; i < VECTOR; i++)
        __builtin_memcpy(to + i * pitch, &rows.row[i], sizeof rows.row[i]);
}

template <class A, class T> inline void pack_elements(A *to, ptrdiff_t pitch, matrix_view<T> from) {
    for (int row = 0; row < from.rows; row++) {
        for (int column = 0; column < from.columns; column++)
            to[row * pitch + column] = widen<A>(from.at(row, column));
    }
}

template <class A, class T> inline void pack_rows(A *to, ptrdiff_t pitch, matrix_view<T> from) {
    const int width = from.columns / VECTOR * VECTOR;
    for (int row = 0; row < from.rows; row++) {
        for (int column = 0; column < width; column += VECTOR) {
            const vector<A> elements = load_vector<A>(&from.at(row, column));
            __builtin_memcpy(to + row * pitch + column, &elements, sizeof elements);
        }
    }
    pack_elements(to + width, pitch, from.block(0, width, from.rows, VECTOR));
}

template <class A, class T> inline void pack_columns(A *to, ptrdiff_t pitch, matrix_view<T> from) {
    const int height = from.rows / VECTOR * VECTOR, width = from.columns / VECTOR * VECTOR;
    for (int column = 0; column < width; column += VECTOR) {
        for (int row = 0; row < height; row += VECTOR)
            pack_square(to + row * pitch + column, pitch, &from.at(row, column),
                        from.column_stride);
    }
    const matrix_view<T> below = from.block(height, 0, VECTOR, width);
    const matrix_view<T> beside = from.block(0, width, from.rows, VECTOR);
    pack_elements(to + height * pitch, pitch, below);
    pack_elements(to + width, pitch, beside);
}

// Writes `rows` by `columns` elements; those that the matrix does not have are 0.
template <class A, class T>
__attribute__((noinline)) void pack(A *to, ptrdiff_t pitch, int rows, int columns,
                                    matrix_view<T> from) {
    if (from.column_stride == 1)
        pack_rows(to, pitch, from);
    else if (from.row_stride == 1)
        pack_columns(to, pitch, from);
    else
        pack_elements(to, pitch, from);
    for (int row = 0; row < rows; row++) {
        const int present = row < from.rows ? from.columns : 0;
        for (int column = present; column < columns; column++)
            to[row * pitch + column] = 0;
    }
}

}  // namespace __msl
