// extents: how many elements a tensor has along each dimension, the innermost first.
#pragma once

namespace __msl {

template <class I, I... V> struct sequence {};

template <class I, class S> struct all_dynamic;

// As a parameter's type: other parameters say what T is.
template <class T> using undeduced = metal::enable_if_t<true, T>;

}  // namespace __msl

namespace metal {

constexpr size_t dynamic_extent = ~size_t(0);

template <class I, size_t... E> class extents {
  public:
    using index_type = I;
    using rank_type = size_t;

    static constexpr size_t rank() { return sizeof...(E); }
    static constexpr size_t rank_dynamic() { return ((E == dynamic_extent) + ... + 0); }
    static constexpr size_t static_extent(size_t i) {
        const size_t given[] = {E...};
        return given[i];
    }

    constexpr extents() = default;
    // Of all dimensions, or of those that the type leaves open.
    template <class... A,
              class = enable_if_t<sizeof...(A) == rank() || sizeof...(A) == rank_dynamic()>,
              class = enable_if_t<(sizeof...(A) > 0) && (is_convertible_v<A, I> && ...)>>
    constexpr extents(A... values) {
        const I given[] = {I(values)...};
        size_t next = 0;
        for (size_t i = 0; i < rank(); i++) {
            if (sizeof...(A) == rank() || static_extent(i) == dynamic_extent)
                lengths[i] = given[next++];
        }
    }

    constexpr I extent(size_t i) const { return lengths[i]; }

  private:
    I lengths[sizeof...(E)] = {I(E == dynamic_extent ? 0 : E)...};
};

template <class I, size_t R>
using dextents =
    typename __msl::all_dynamic<I, __make_integer_seq<__msl::sequence, size_t, R>>::type;

}  // namespace metal

namespace __msl {

template <class I, size_t... K> struct all_dynamic<I, sequence<size_t, K...>> {
    using type = metal::extents<I, (K * 0 + metal::dynamic_extent)...>;
};

}  // namespace __msl
