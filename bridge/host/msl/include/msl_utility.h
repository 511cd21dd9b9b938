// <metal_utility> and <metal_initializer_list>.
#pragma once

namespace metal {

template <class T> constexpr remove_reference_t<T> &&move(T &&value) {
    return static_cast<remove_reference_t<T> &&>(value);
}

template <class T, T... I> struct integer_sequence {
    using value_type = T;
    static constexpr size_t size() { return sizeof...(I); }
};
template <class T, T N> using make_integer_sequence = __make_integer_seq<integer_sequence, T, N>;

}  // namespace metal

// The compiler makes one of a list in braces, and knows it by this name only.
namespace std {

template <class T> class initializer_list {
    const T *first_ = nullptr;
    __SIZE_TYPE__ size_ = 0;

  public:
    using value_type = T;

    constexpr initializer_list() = default;
    constexpr __SIZE_TYPE__ size() const { return size_; }
    constexpr const T *begin() const { return first_; }
    constexpr const T *end() const { return first_ + size_; }
};

}  // namespace std

namespace metal {
using std::initializer_list;
}
