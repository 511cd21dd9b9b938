// Products of matrices of any layout: a threadgroup computes a tile of M by N. The instantiations
// are those that a test asks for.
#include <metal_stdlib>
#include <metal_tensor>
#include <MetalPerformancePrimitives/MetalPerformancePrimitives.h>
using namespace metal;
using namespace mpp::tensor_ops;

constant constexpr bool ACCUMULATE = true;

struct Matrix {
    int columns, rows, column_stride, row_stride;
};

struct Shapes {
    Matrix left, right, result;
};

template <class T> auto over(device T *data, constant Matrix &matrix) {
    return tensor(data, dextents<int, 2>(matrix.columns, matrix.rows),
                  array<int, 2>{matrix.column_stride, matrix.row_stride});
}

constexpr matmul2d_descriptor described(int m, int n, int k, bool tl, bool tr, bool accumulate) {
    return matmul2d_descriptor(m, n, k == 0 ? int(dynamic_extent) : k, tl, tr, false,
                               accumulate ? matmul2d_descriptor::mode::multiply_accumulate
                                          : matmul2d_descriptor::mode::multiply);
}

// From device memory to device memory. K is 0 where the depth is left open.
template <class L, class R, class T, int M, int N, int K, bool TL, bool TR, bool MODE, class Scope>
kernel void in_memory(device L *left [[buffer(0)]], device R *right [[buffer(1)]],
                      device T *result [[buffer(2)]], constant Shapes &shapes [[buffer(3)]],
                      uint2 tile [[threadgroup_position_in_grid]]) {
    const int row = tile.y * M, column = tile.x * N;
    auto a = over(left, shapes.left).slice(TL ? row : 0, TL ? 0 : row);
    auto b = over(right, shapes.right).slice(TR ? 0 : column, TR ? column : 0);
    auto c = over(result, shapes.result).slice(column, row);
    constexpr auto descriptor = described(M, N, K, TL, TR, MODE);
    matmul2d<descriptor, Scope> product;
    product.run(a, b, c);
}

// In steps of K along the depth, into registers; the parts have static extents.
template <class L, class R, class T, int M, int N, int K, bool TL, bool TR, bool MODE, class Scope>
kernel void in_registers(device L *left [[buffer(0)]], device R *right [[buffer(1)]],
                         device T *result [[buffer(2)]], constant Shapes &shapes [[buffer(3)]],
                         uint2 tile [[threadgroup_position_in_grid]]) {
    const int row = tile.y * M, column = tile.x * N;
    auto a = over(left, shapes.left);
    auto b = over(right, shapes.right);
    auto c = over(result, shapes.result).template static_slice<N, M>(column, row);
    constexpr auto descriptor = described(M, N, K, TL, TR, ACCUMULATE);
    matmul2d<descriptor, Scope> product;
    auto sum = product.template get_destination_cooperative_tensor<decltype(a), decltype(b), T>();
    if (MODE == ACCUMULATE) {
        sum.load(c);
    } else {
        for (ushort i = 0; i < sum.get_capacity(); i++)
            sum[i] = 0;
    }
    const int depth = TL ? shapes.left.rows : shapes.left.columns;
    for (int k = 0; k < depth; k += K) {
        auto a_part = a.template slice<TL ? M : K, TL ? K : M>(TL ? row : k, TL ? k : row);
        auto b_part = b.template slice<TR ? K : N, TR ? N : K>(TR ? k : column, TR ? column : k);
        product.run(a_part, b_part, sum);
    }
    sum.store(c);
}

// Both sides and the result through packed threadgroup memory.
template <class L, class R, class T, int M, int N, int K, bool TL, bool TR, bool MODE, class Scope>
kernel void in_threadgroup(device L *left [[buffer(0)]], device R *right [[buffer(1)]],
                           device T *result [[buffer(2)]], constant Shapes &shapes [[buffer(3)]],
                           uint2 tile [[threadgroup_position_in_grid]],
                           uint index [[thread_index_in_threadgroup]],
                           ushort2 size [[threads_per_threadgroup]]) {
    threadgroup L a_memory[M * K];
    threadgroup R b_memory[K * N];
    threadgroup T c_memory[M * N];
    const int row = tile.y * M, column = tile.x * N, threads = size.x * size.y;
    auto a_all = over(left, shapes.left);
    auto b_all = over(right, shapes.right);
    auto c_all = over(result, shapes.result);
    constexpr int A_COLUMNS = TL ? M : K, B_COLUMNS = TR ? K : N;
    for (int i = index; i < M * K; i += threads) {
        const int x = i % A_COLUMNS + (TL ? row : 0), y = i / A_COLUMNS + (TL ? 0 : row);
        const bool inside = x < a_all.get_extent(0) && y < a_all.get_extent(1);
        a_memory[i] = inside ? a_all[array<int, 2>{x, y}] : L(0);
    }
    for (int i = index; i < K * N; i += threads) {
        const int x = i % B_COLUMNS + (TR ? 0 : column), y = i / B_COLUMNS + (TR ? column : 0);
        const bool inside = x < b_all.get_extent(0) && y < b_all.get_extent(1);
        b_memory[i] = inside ? b_all[array<int, 2>{x, y}] : R(0);
    }
    for (int i = index; i < M * N; i += threads) {
        const int x = column + i % N, y = row + i / N;
        const bool inside = x < c_all.get_extent(0) && y < c_all.get_extent(1);
        c_memory[i] = inside ? c_all[array<int, 2>{x, y}] : T(0);
    }
    threadgroup_barrier(mem_flags::mem_threadgroup);
    auto a = tensor(a_memory, extents<int, A_COLUMNS, TL ? K : M>());
    auto b = tensor(b_memory, extents<int, B_COLUMNS, TR ? N : K>());
    auto c = tensor(c_memory, extents<int, N, M>());
    constexpr auto descriptor = described(M, N, K, TL, TR, MODE);
    matmul2d<descriptor, Scope> product;
    product.run(a, b, c);
    threadgroup_barrier(mem_flags::mem_threadgroup);
    for (int i = index; i < M * N; i += threads) {
        const int x = column + i % N, y = row + i / N;
        if (x < c_all.get_extent(0) && y < c_all.get_extent(1))
            c_all[array<int, 2>{x, y}] = c_memory[i];
    }
}

// Every operand in registers; the inputs are loaded a step of K at a time.
template <class L, class R, class T, int M, int N, int K, bool TL, bool TR, bool MODE, class Scope>
kernel void all_in_registers(device L *left [[buffer(0)]], device R *right [[buffer(1)]],
                             device T *result [[buffer(2)]], constant Shapes &shapes [[buffer(3)]],
                             uint2 tile [[threadgroup_position_in_grid]]) {
    const int row = tile.y * M, column = tile.x * N;
    auto a = over(left, shapes.left);
    auto b = over(right, shapes.right);
    auto c = over(result, shapes.result).slice(column, row);
    constexpr auto descriptor = described(M, N, K, TL, TR, ACCUMULATE);
    matmul2d<descriptor, Scope> product;
    auto a_part = product.template get_left_input_cooperative_tensor<L, R, T>();
    auto b_part = product.template get_right_input_cooperative_tensor<L, R, T>();
    auto sum =
        product
            .template get_destination_cooperative_tensor<decltype(a_part), decltype(b_part), T>();
    for (auto element = sum.begin(); element != sum.end(); ++element)
        *element = T(0);
    if (MODE == ACCUMULATE) sum.load(c);
    const int depth = TL ? shapes.left.rows : shapes.left.columns;
    for (int k = 0; k < depth; k += K) {
        a_part.load(a.slice(TL ? row : k, TL ? k : row));
        b_part.load(b.slice(TR ? k : column, TR ? column : k));
        product.run(a_part, b_part, sum);
    }
    sum.store(c);
}
