// What a list in braces is to a function. The language itself knows it by its name in `std` and by
// its two members.
#pragma once

namespace std {

template <class T> class initializer_list {
  public:
    using value_type = T;
    using reference = const T &;
    using const_reference = const T &;
    using size_type = size_t;
    using iterator = const T *;
    using const_iterator = const T *;

    constexpr initializer_list() = default;
    constexpr const T *begin() const { return first_; }
    constexpr const T *end() const { return first_ + size_; }
    constexpr size_t size() const { return size_; }

  private:
    const T *first_ = nullptr;
    size_t size_ = 0;
};

}  // namespace std

namespace metal {
using std::initializer_list;
}  // namespace metal
