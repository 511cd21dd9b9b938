// Cooperative tensors: where their elements are, and what is done with them between products. The
// scope and the shape of the matrix are macros.
#include <metal_stdlib>
#include <metal_tensor>
#include <MetalPerformancePrimitives/MetalPerformancePrimitives.h>
using namespace metal;
using namespace mpp::tensor_ops;

constant constexpr matmul2d_descriptor DESCRIPTOR(ROWS, COLUMNS, 16);
using Product = matmul2d<DESCRIPTOR, SCOPE>;
using Any = tensor<device float, dextents<int, 2>, tensor_inline>;

template <class T> auto result_of(Product product) {
    return product.get_destination_cooperative_tensor<Any, Any, T>();
}

// Counts each element where it is, and writes which one it is.
kernel void coverage(device atomic_uint *counts [[buffer(0)]], device int2 *places [[buffer(1)]],
                     device atomic_uint *wrong [[buffer(2)]]) {
    auto values = result_of<float>(Product());
    auto element = values.begin();
    int slots = 0;
    for (ushort i = 0; i < values.get_capacity(); i++, element++, slots++) {
        bool right = values.get_mask(i) == values.is_valid_element(i);
        right = right && element.is_valid_element() == values.is_valid_element(i);
        right = right && isnan(values[i]) && &*element == &values[i];
        right = right && values.get_iterator(i) == element;
        if (values.is_valid_element(i)) {
            const auto at = values.get_multidimensional_index(i);
            const int place = at[0] + at[1] * COLUMNS;
            right = right && at[0] < COLUMNS && at[1] < ROWS;
            right = right && element.get_multidimensional_index()[0] == at[0];
            atomic_fetch_add_explicit(counts + place, 1, memory_order_relaxed);
            places[place] = int2(at[0], at[1]);
        }
        if (!right) atomic_fetch_add_explicit(wrong, 1, memory_order_relaxed);
    }
    const bool all = element == values.end() && slots == values.get_capacity();
    if (!all) atomic_fetch_add_explicit(wrong, 1, memory_order_relaxed);
}

struct View {
    int columns, rows, stride;
};

kernel void doubled(device half *from [[buffer(0)]], device float *to [[buffer(1)]],
                    constant View &view [[buffer(2)]]) {
    auto values = result_of<float>(Product());
    const dextents<int, 2> shape(view.columns, view.rows);
    values.load(tensor(from, shape, array<int, 2>{1, view.stride}));
    for (auto &value : values)
        value *= 2;
    values.store(tensor(to, shape, array<int, 2>{1, view.stride}));
}

#ifdef EDGES
// A product of whole matrices, then one of what is left of them at a corner.
kernel void edges(device float *left [[buffer(0)]], device float *right [[buffer(1)]],
                  device float *result [[buffer(2)]]) {
    Product product;
    auto a = tensor(left, extents<int, 16, ROWS>());
    auto b = tensor(right, extents<int, COLUMNS, 16>());
    auto values = result_of<float>(product);
    product.run(a, b, values);
    auto lower = a.slice(5, 3);
    auto later = b.slice(7, 5);
    product.run(lower, later, values);
    values.store(tensor(result, extents<int, COLUMNS, ROWS>()));
}
#endif

#ifdef REDUCTIONS
// The sums and extremes of rows and columns, and each element less its row's maximum plus its
// column's sum.
kernel void reductions(device float *from [[buffer(0)]], device float *rows [[buffer(1)]],
                       device float *columns [[buffer(2)]], device float *mapped [[buffer(3)]],
                       device atomic_uint *wrong [[buffer(4)]]) {
    Product product;
    auto values = result_of<float>(product);
    auto row = product.get_row_reduction_destination_cooperative_tensor<Any, Any, float>();
    auto column = product.get_column_reduction_destination_cooperative_tensor<Any, Any, float>();
    const extents<int, COLUMNS, ROWS> shape;
    values.load(tensor(from, shape));

    const extents<int, ROWS> row_shape;
    reduce_rows(values, row);
    row.store(tensor(rows, row_shape));
    reduce_rows(values, row, reduction_operation::min,
                reduction_operation_identity<float>::min_identity);
    row.store(tensor(rows + ROWS, row_shape));
    reduce_rows(values, row, reduction_operation::max);
    row.store(tensor(rows + 2 * ROWS, row_shape));
    reduce_rows(values, row, reduction_operation::max, -INFINITY);
    row.store(tensor(rows + 3 * ROWS, row_shape));

    const extents<int, COLUMNS> column_shape;
    reduce_columns(values, column, reduction_operation::max,
                   reduction_operation_identity<float>::max_identity);
    column.store(tensor(columns, column_shape));
    reduce_columns(values, column, reduction_operation::min);
    column.store(tensor(columns + COLUMNS, column_shape));
    reduce_columns(values, column, reduction_operation::sum, 100.0f);
    column.store(tensor(columns + 2 * COLUMNS, column_shape));
    reduce_columns(values, column);
    column.store(tensor(columns + 3 * COLUMNS, column_shape));

    bool right = is_iterator_compatible(values, row) && is_iterator_compatible(values, column) &&
                 is_iterator_compatible(values, values);
    for (auto element = values.begin(); element != values.end(); element++) {
        if (!element.is_valid_element()) continue;
        const auto at = element.get_multidimensional_index();
        auto its_row = row.map_iterator(element);
        auto its_column = column.map_iterator(element);
        right = right && its_row.is_valid_element() && its_column.is_valid_element();
        right = right && its_row.get_multidimensional_index()[0] == at[1];
        right = right && its_column.get_multidimensional_index()[0] == at[0];
        right = right && &*values.map_iterator(element) == &*element;
        *element += *its_column - *its_row;
    }
    if (!right) atomic_fetch_add_explicit(wrong, 1, memory_order_relaxed);
    values.store(tensor(mapped, shape));
}

// Sixteen rows of another product: each thread holds other rows of it where DIFFERENT is.
constant constexpr matmul2d_descriptor OTHER(OTHER_ROWS, COLUMNS, 16);

kernel void foreign(device uint *compatible [[buffer(0)]], device float *out [[buffer(1)]]) {
    auto values = result_of<float>(Product());
    matmul2d<OTHER, SCOPE> other;
    auto row = other.get_row_reduction_destination_cooperative_tensor<Any, Any, float>();
    *compatible = is_iterator_compatible(values, row);
    for (auto element = values.begin(); element != values.end(); element++) {
        if (element.is_valid_element()) out[0] = *row.map_iterator(element);
    }
}
#endif

#ifdef CHAIN
// (left * right) * last, where the first product becomes the left input of the second.
kernel void chain(device half *left [[buffer(0)]], device half *right [[buffer(1)]],
                  device half *last [[buffer(2)]], device float *result [[buffer(3)]],
                  device uint *compatible [[buffer(4)]]) {
    constexpr matmul2d_descriptor first_shape(ROWS, COLUMNS, 16);
    constexpr matmul2d_descriptor second_shape(ROWS, 48, COLUMNS, false, true);
    matmul2d<first_shape, SCOPE> first;
    matmul2d<second_shape, SCOPE> second;
    auto a = tensor(left, extents<int, 16, ROWS>());
    auto b = tensor(right, extents<int, COLUMNS, 16>());
    auto c = tensor(last, extents<int, COLUMNS, 48>());
    auto d = tensor(result, extents<int, 48, ROWS>());
    auto between = first.get_destination_cooperative_tensor<decltype(a), decltype(b), float>();
    first.run(a, b, between);
    compatible[0] = second.is_compatible_as_left_input<half, half, float>(between);
    compatible[1] = second.is_compatible_as_right_input<half, half, float>(between);
    auto input = second.get_left_input_cooperative_tensor<half, half, float>(between);
    second.run(input, c, d);
}
#endif
