// What Apple's compiler refuses, in words.
#pragma once

namespace mpp::tensor_ops {
struct matmul2d_descriptor;
}

namespace __msl {

template <class Descriptor> constexpr bool has_open_depth(const Descriptor &d) {
    return d.k == int(metal::dynamic_extent) || d.k == __INT_MAX__;
}

template <class Descriptor> constexpr bool is_cooperative_shape(const Descriptor &d) {
    const bool known =
        (d.m == 16 || d.m == 32) && (d.n == 16 || d.n == 32) && (d.k == 16 || d.k == 32);
    return known && (d.m == 32 || d.n == 32 || d.k == 32);
}

template <class T>
inline constexpr bool is_real_element =
    metal::is_same_v<T, half> || metal::is_same_v<T, bfloat> || metal::is_same_v<T, float>;
template <class T> inline constexpr bool is_byte = __is_integral(T) && sizeof(T) == 1;

template <class L, class R>
using accumulator = metal::conditional_t<is_byte<L> && is_byte<R>, int, float>;

template <class L, class R, class T> constexpr bool has_types() {
    if (is_byte<L> && is_byte<R>)
        return metal::is_same_v<T, int> || metal::is_same_v<T, float> || metal::is_same_v<T, half>;
    return (is_real_element<L> || is_byte<L>) && (is_real_element<R> || is_byte<R>) &&
           is_real_element<T>;
}

// A variable that is a tensor of two dimensions or a cooperative tensor.
template <class Operand> inline constexpr bool is_matrix = false;
template <class T, class X, class Tag>
inline constexpr bool is_matrix<metal::tensor<T, X, Tag>> = X::rank() == 2;
template <class T, class X, class Layout>
inline constexpr bool is_matrix<metal::cooperative_tensor<T, X, Layout>> = X::rank() == 2;

template <class Operand> inline constexpr bool has_const_elements = false;
template <class T, class X, class Tag>
inline constexpr bool has_const_elements<metal::tensor<const T, X, Tag>> = true;

template <auto D> constexpr void check_input() {
    static_assert(!has_open_depth(D),
                  "matmul2d: a cooperative tensor as input needs a descriptor with a k");
}

template <class From, class To> constexpr void check_conversion() {
    static_assert(metal::is_same_v<typename From::layout, typename To::layout>,
                  "the threads hold other elements of this cooperative tensor than the product "
                  "takes: ask is_compatible_as_left_input or is_compatible_as_right_input, and go "
                  "through memory");
}

template <auto D, class Left, class Right, class Destination> constexpr void check_operands() {
    static_assert(is_matrix<Left> && is_matrix<Right> && is_matrix<Destination>,
                  "matmul2d: each operand is a tensor or a cooperative tensor of two dimensions, "
                  "in a variable that is not const");
    static_assert(!has_const_elements<Left> && !has_const_elements<Right> &&
                      !has_const_elements<Destination>,
                  "matmul2d: the elements of its tensors may not be const");
    if constexpr (is_cooperative<Left> && is_cooperative<Right>) {
        static_assert(is_cooperative_shape(D),
                      "matmul2d: with two cooperative tensors as inputs m, n and k are 16 or 32, "
                      "and one of them is 32");
    } else {
        static_assert(has_open_depth(D) || (D.k > 0 && D.k % 16 == 0),
                      "matmul2d: k is dynamic or a multiple of 16");
        static_assert(D.m > 0 && D.n > 0 && (D.m % 16 == 0 || D.n % 16 == 0),
                      "matmul2d: at least one of m and n is a multiple of 16");
        static_assert(D.n % 8 == 0, "matmul2d: n is a multiple of 8");
    }
    static_assert(has_types<element_of<Left>, element_of<Right>, element_of<Destination>>(),
                  "matmul2d: no product of these element types: half, bfloat and float give float, "
                  "half or bfloat; char and uchar give int, float or half");
}

}  // namespace __msl
