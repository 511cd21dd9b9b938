// A matrix in memory, of any strides. Beyond its rows and columns it counts as 0.
#pragma once

namespace __msl {

template <class T> struct matrix_view {
    T *data;
    ptrdiff_t row_stride, column_stride;
    int rows, columns;

    T &at(int row, int column) const { return data[row * row_stride + column * column_stride]; }
    matrix_view transposed() const { return {data, column_stride, row_stride, columns, rows}; }
    matrix_view block(int row, int column, int height, int width) const {
        return {&at(row, column), row_stride, column_stride, metal::clamp(rows - row, 0, height),
                metal::clamp(columns - column, 0, width)};
    }
};

// As the products are computed in. Where the CPU does not convert half by itself the compiler would
// call a function for each.
template <class A, class T> inline A widen(T value) {
#if defined(__x86_64__) && !defined(__F16C__)
    if constexpr (is_same_v<metal::remove_cv_t<T>, half>)
        return half_to_float(__builtin_bit_cast(unsigned short, value));
    else
#endif
        return A(value);
}

}  // namespace __msl
