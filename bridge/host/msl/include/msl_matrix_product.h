// The product of two matrices, in tiles that stay in registers while they run along the depth.
#pragma once

namespace __msl {

// Of a tile; its accumulators and one row of the right side fill the vector registers.
#if defined(__AVX512F__)
constexpr int TILE_ROWS = 8, TILE_VECTORS = 2;
#elif defined(__AVX2__) || defined(__aarch64__)
constexpr int TILE_ROWS = 4, TILE_VECTORS = 1;
#else
constexpr int TILE_ROWS = 2, TILE_VECTORS = 1;
#endif
// Rows of the right side that are packed at once: a panel of them stays in the nearest cache.
constexpr int PANEL_DEPTH = 128;

constexpr int whole(int count, int unit) {
    return (count + unit - 1) / unit * unit;
}

// What a product of ROWS by COLUMNS works in.
template <class A, int ROWS, int COLUMNS> struct workspace {
    static constexpr int vectors =
        whole(COLUMNS, VECTOR) % (TILE_VECTORS * VECTOR) == 0 ? TILE_VECTORS : 1;
    static constexpr int width = vectors * VECTOR;  // of a panel
    static constexpr int rows = whole(ROWS, TILE_ROWS), columns = whole(COLUMNS, width);

    alignas(MSL_SCRATCH_ALIGNMENT) A product[rows * columns];
    alignas(MSL_SCRATCH_ALIGNMENT) A left[rows * PANEL_DEPTH];
    alignas(MSL_SCRATCH_ALIGNMENT) A right[PANEL_DEPTH * columns];
};

// Adds the product of TILE_ROWS rows of `left` and a panel to what `sum` holds.
template <class A, int VECTORS>
MSL_UNCHECKED __attribute__((noinline, min_vector_width(512))) void
multiply_tile(A *sum, ptrdiff_t sum_pitch, const A *left, const A *right, int depth) {
    _Pragma("clang fp contract(fast)");
    constexpr int WIDTH = VECTORS * VECTOR;
    vector<A> sums[TILE_ROWS][VECTORS];
    for (int row = 0; row < TILE_ROWS; row++)
        __builtin_memcpy(sums[row], sum + row * sum_pitch, sizeof sums[row]);
    for (int k = 0; k < depth; k++, left++, right += WIDTH) {
        vector<A> panel[VECTORS];
        __builtin_memcpy(panel, right, sizeof panel);
#pragma clang loop unroll(full)
        for (int row = 0; row < TILE_ROWS; row++) {
#pragma clang loop unroll(full)
            for (int i = 0; i < VECTORS; i++)
                sums[row][i] += panel[i] * left[row * PANEL_DEPTH];
        }
    }
    for (int row = 0; row < TILE_ROWS; row++)
        __builtin_memcpy(sum + row * sum_pitch, sums[row], sizeof sums[row]);
}

// Both sides are packed once, each element; `depth` is how far they overlap.
template <class A, int ROWS, int COLUMNS, class L, class R>
void multiply(workspace<A, ROWS, COLUMNS> &space, const matrix_view<L> &left,
              const matrix_view<R> &right, int depth) {
    using Space = workspace<A, ROWS, COLUMNS>;
    __builtin_memset(space.product, 0, sizeof space.product);
    for (int k = 0; k < depth; k += PANEL_DEPTH) {
        const int count = metal::min(PANEL_DEPTH, depth - k);
        pack(space.left, PANEL_DEPTH, Space::rows, count, left.block(0, k, ROWS, count));
        for (int column = 0; column < Space::columns; column += Space::width) {
            A *panel = space.right + column * PANEL_DEPTH;
            pack(panel, Space::width, count, Space::width,
                 right.block(k, column, count, metal::min(Space::width, COLUMNS - column)));
            for (int row = 0; row < Space::rows; row += TILE_ROWS) {
                multiply_tile<A, Space::vectors>(space.product + row * Space::columns + column,
                                                 Space::columns, space.left + row * PANEL_DEPTH,
                                                 panel, count);
            }
        }
    }
}

}  // namespace __msl
