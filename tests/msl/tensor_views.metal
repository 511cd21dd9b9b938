// What tensors say of themselves, and which elements they reach. One thread; checks itself.
#include <metal_tensor>
#include <MetalPerformancePrimitives/MetalPerformancePrimitives.h>
using namespace mpp::tensor_ops;

kernel void shapes(CHECKED, device float *data [[buffer(1)]]) {
    using Mixed = extents<int, 4, dynamic_extent, 2>;
    static_assert(Mixed::rank() == 3 && Mixed::rank_dynamic() == 1, "");
    static_assert(is_same_v<dextents<int, 2>, extents<int, dynamic_extent, dynamic_extent>>, "");
    static_assert(is_same_v<Mixed::index_type, int>, "");
    CHECK(Mixed(7).extent(0) == 4 && Mixed(7).extent(1) == 7 && Mixed(7).extent(2) == 2);
    CHECK(Mixed(4, 9, 2).extent(1) == 9 && Mixed().extent(1) == 0 && Mixed().extent(2) == 2);
    CHECK((dextents<int32_t, 2>{5, 6}.extent(1) == 6));
    CHECK(Mixed::static_extent(0) == 4 && Mixed::static_extent(1) == dynamic_extent);
    CHECK(tensor(data, Mixed(3)).get_stride(2) == 12);
}

kernel void inline_tensors(CHECKED, device float *data [[buffer(1)]]) {
    auto packed = tensor(data, dextents<int, 3>(5, 3, 2));
    static_assert(
        is_same_v<decltype(packed), tensor<device float, dextents<int, 3>, tensor_inline>>, "");
    CHECK(packed.get_rank() == 3 && packed.get_extent(0) == 5 && packed.get_extent(2) == 2);
    CHECK(packed.get_stride(0) == 1 && packed.get_stride(1) == 5 && packed.get_stride(2) == 15);
    packed[array<int, 3>{4, 2, 1}] = 7;
    CHECK(data[4 + 2 * 5 + 15] == 7);
    auto strided = tensor<device float, extents<int, 4, 8>, tensor_inline>(
        data, extents<int, 4, 8>(), array<int, 2>{16, 2});
    CHECK(strided.get_static_extent(1) == 8 && strided.get_stride(0) == 16);
    CHECK((&strided[array<int, 2>{3, 5}] == data + 3 * 16 + 5 * 2));
    auto line = tensor(data, extents<int, 9>());
    CHECK((line.get_rank() == 1 && &line[array<int, 1>{8}] == data + 8));
}

kernel void tags(CHECKED, device half *data [[buffer(1)]]) {
    static_assert(is_same_v<tensor<device half, dextents<int, 2>>,
                            tensor<device half, dextents<int, 2>, tensor_handle>>,
                  "");
    using Handle = tensor<device half, dextents<int, 2>>;
    using Part = tensor<device half, dextents<int, 2>, tensor_offset>;
    static_assert(is_same_v<decltype(declval<Handle>().slice(1, 2)), Part>, "");
    auto whole = tensor(data, dextents<int, 2>(8, 4));
    static_assert(is_same_v<decltype(whole.slice(1, 2)), Part>, "");
    static_assert(is_same_v<decltype(whole.slice(1, 2).slice(1, 1)), Part>, "");
    static_assert(is_same_v<decltype(whole.static_slice<2, 3>(0, 0)),
                            tensor<device half, extents<int, 2, 3>, tensor_offset>>,
                  "");
    static_assert(is_same_v<decltype(whole.slice<dynamic_length_v<int>, 3>(0, 0)),
                            tensor<device half, extents<int, dynamic_extent, 3>, tensor_offset>>,
                  "");
    static_assert(is_same_v<Handle::element_type, half>, "");
    CHECK(whole.get_extent(0) == 8);
}

kernel void slices(CHECKED, device float *data [[buffer(1)]]) {
    auto whole = tensor(data, dextents<int, 2>(8, 4), array<int, 2>{1, 10});
    auto part = whole.slice(3, 1);
    CHECK((&part[array<int, 2>{1, 2}] == data + 4 + 3 * 10));
    CHECK(part.get_extent(0) == 8 && part.get_extent(1) == 4 && part.get_stride(1) == 10);
    auto again = part.slice(2, 1);
    CHECK((&again[array<int, 2>{0, 0}] == data + 5 + 2 * 10));
    auto fixed = part.static_slice<16, 2>(1, 0);
    CHECK(fixed.get_extent(0) == 16 && fixed.get_extent(1) == 2 && fixed.get_static_extent(1) == 2);
    CHECK((&fixed[array<int, 2>{0, 0}] == data + 4 + 10));
}

// What a part does not have, or the whole that it is of, reads as 0 and is not written.
kernel void clipping(CHECKED, device float *data [[buffer(1)]]) {
    constexpr matmul2d_descriptor descriptor(16, 16, 16);
    matmul2d<descriptor, execution_thread> product;
    auto whole = tensor(data, dextents<int, 2>(20, 18));
    auto values =
        product.get_destination_cooperative_tensor<decltype(whole), decltype(whole), float>();
    for (int i = 0; i < 20 * 18; i++)
        data[i] = 1 + i;
    values.load(whole.slice(15, 10).slice(-3, 0));
    for (int i = 0; i < values.get_capacity(); i++) {
        const auto at = values.get_multidimensional_index(i);
        const int column = 12 + at[0], row = 10 + at[1];
        CHECK(values[i] == (column < 20 && row < 18 ? 1 + column + 20 * row : 0));
        values[i] = -1;
    }
    values.store(whole.static_slice<2, 3>(9, 4));
    values.store(whole.static_slice<4, 4>(18, 16));
    values.store(whole.slice(0, 18));
    values.store(whole.slice(30, 0));
    for (int i = 0; i < 20 * 18; i++) {
        const int column = i % 20, row = i / 20;
        const bool inner = column >= 9 && column < 11 && row >= 4 && row < 7;
        const bool corner = column >= 18 && row >= 16;
        CHECK(data[i] == (inner || corner ? -1 : 1 + i));
    }
}
