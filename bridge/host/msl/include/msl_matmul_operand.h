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

// What all threads brought along as one matrix; `part_of` gives a thread's.
template <class Operand, class F, class Space>
matrix_view<element_of<Operand>> gather(F part_of, Space &space) {
    if constexpr (is_tensor<Operand>) {
        return view_of(part_of(0));
    } else {
        using Layout = typename Operand::layout;
        for (int thread = 0; thread < Layout::threads; thread++) {
            const Operand &part = part_of(thread);
            const int first = thread * Layout::capacity;
            for (int slot = 0; slot < Layout::capacity && Layout::valid(thread, slot); slot++)
                space.elements[first + slot] = part[slot];
        }
        return {space.elements, Layout::columns, 1, Layout::rows, Layout::columns};
    }
}

// Integers stay integers; whatever else is computed in float and rounded once.
template <class T, class A> inline T combined(T old, A product, bool accumulate) {
    if constexpr (__is_integral(T) && __is_integral(A))
        return accumulate ? T(old + product) : T(product);
    else
        return accumulate ? T(float(old) + float(product)) : T(float(product));
}

template <bool ACCUMULATE, class T, class A>
void write_rows(const matrix_view<T> &to, const A *product, ptrdiff_t pitch) {
    for (int row = 0; row < to.rows; row++) {
        for (int column = 0; column < to.columns; column++) {
            T &element = to.at(row, column);
            element = combined(element, product[row * pitch + column], ACCUMULATE);
        }
    }
}

// Writes the product to where the threads want it.
template <bool ACCUMULATE, class Operand, class F, class Space>
void scatter(F part_of, const Space &space, int rows, int columns) {
    if constexpr (is_tensor<Operand>) {
        const auto to = view_of(part_of(0)).block(0, 0, rows, columns);
        write_rows<ACCUMULATE>(to, space.product, Space::columns);
    } else {
        using Layout = typename Operand::layout;
        for (int thread = 0; thread < Layout::threads; thread++) {
            Operand &part = part_of(thread);
            for (int slot = 0; slot < Layout::capacity && Layout::valid(thread, slot); slot++) {
                int element = thread * Layout::capacity + slot;
                if constexpr (Space::columns != Layout::columns)
                    element += element / Layout::columns * (Space::columns - Layout::columns);
                part[slot] = combined(part[slot], space.product[element], ACCUMULATE);
            }
        }
    }
}

}  // namespace __msl
