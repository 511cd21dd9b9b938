// The operands of a product: tensors in memory, or spread over the threads.
#pragma once

namespace __msl {

template <class Operand> struct operand_type {
    using element = typename Operand::value_type;
};
template <class T, class X, class Layout>
struct operand_type<metal::cooperative_tensor<T, X, Layout>> {
    using element = T;
};
template <class Operand>
using element_of = typename operand_type<metal::remove_cv_t<Operand>>::element;

// Elements to gather a cooperative tensor into.
template <class Operand, class = void> struct gathered {
    element_of<Operand> elements[Operand::layout::elements];
};
template <class Operand> struct gathered<Operand, metal::enable_if_t<is_tensor<Operand>>> {};

template <class T, class X, class Tag>
matrix_view<T> view_of(const metal::tensor<T, X, Tag> &from) {
    return {from.__data(), from.__stride(1), from.__stride(0), int(from.__present(1)),
            int(from.__present(0))};
}

// The tensors of all threads as one matrix.
template <class T, class X, class Tag, class Part>
matrix_view<T> gather(const metal::tensor<T, X, Tag> *const *all, Part &) {
    return view_of(*all[0]);
}
template <class T, class X, class Layout, class Part>
matrix_view<T> gather(const metal::cooperative_tensor<T, X, Layout> *const *all, Part &space) {
    for (int thread = 0; thread < Layout::threads; thread++) {
        const int first = thread * Layout::capacity;
        const int count = metal::clamp(Layout::elements - first, 0, Layout::capacity);
        for (int slot = 0; slot < count; slot++)
            space.elements[first + slot] = (*all[thread])[slot];
    }
    return {space.elements, Layout::columns, 1, Layout::rows, Layout::columns};
}

// Integers stay integers; whatever else is computed in float and rounded once.
template <class T, class A> inline T combined(T old, A product, bool accumulate) {
    if constexpr (metal::is_integral_v<T> && metal::is_integral_v<A>)
        return accumulate ? T(old + product) : T(product);
    else
        return accumulate ? T(float(old) + float(product)) : T(float(product));
}

template <bool ACCUMULATE, class T, class X, class Tag, class Space>
void scatter(const metal::tensor<T, X, Tag> *const *all, const Space &space, int rows,
             int columns) {
    const matrix_view<T> to = view_of(*all[0]);
    rows = metal::min(rows, to.rows);
    columns = metal::min(columns, to.columns);
    for (int row = 0; row < rows; row++) {
        for (int column = 0; column < columns; column++) {
            T &element = to.at(row, column);
            element = combined(element, space.product[row * Space::columns + column], ACCUMULATE);
        }
    }
}
template <bool ACCUMULATE, class T, class X, class Layout, class Space>
void scatter(metal::cooperative_tensor<T, X, Layout> *const *all, const Space &space, int, int) {
    for (int thread = 0; thread < Layout::threads; thread++) {
        const int first = thread * Layout::capacity;
        const int count = metal::clamp(Layout::elements - first, 0, Layout::capacity);
        for (int slot = 0; slot < count; slot++) {
            int element = first + slot;
            if constexpr (Space::columns != Layout::columns)
                element += element / Layout::columns * (Space::columns - Layout::columns);
            T &to = (*all[thread])[slot];
            to = combined(to, space.product[element], ACCUMULATE);
        }
    }
}

}  // namespace __msl
