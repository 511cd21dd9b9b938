// tensor: an array of several dimensions over memory that something else owns.
#pragma once

namespace metal {

struct tensor_handle {};  // bound by the host
struct tensor_offset {};  // a slice of another
struct tensor_inline {};  // made in the kernel, over a pointer

template <class T, class Extents, class Tag = tensor_handle> class tensor {
  public:
    using element_type = T;
    using value_type = remove_cv_t<T>;
    using extents_type = Extents;
    using index_type = typename Extents::index_type;

    static constexpr size_t get_rank() { return Extents::rank(); }

    // Packed, without a gap between neighbours. The guides below say which type tensor(...) makes.
    constexpr tensor(T *data, const __msl::undeduced<Extents> &shape)
        : tensor(data, shape, packed(shape)) {}
    // Strides in elements, of the innermost dimension first.
    template <class S>
    constexpr tensor(T *data, const __msl::undeduced<Extents> &shape,
                     const array<S, Extents::rank()> &strides)
        : data(data), shape(shape) {
        static_assert(is_same_v<Tag, tensor_inline>,
                      "only a tensor_inline is made over a pointer: say tensor(pointer, extents)");
        for (size_t i = 0; i < get_rank(); i++) {
            this->strides[i] = strides[i];
            present[i] = shape.extent(i);
        }
    }

    constexpr index_type get_extent(size_t i) const { return shape.extent(i); }
    constexpr index_type get_stride(size_t i) const { return index_type(strides[i]); }
    static constexpr size_t get_static_extent(size_t i) { return Extents::static_extent(i); }

    template <class I> constexpr T &operator[](const array<I, Extents::rank()> &position) const {
        T *element = data;
        for (size_t i = 0; i < get_rank(); i++)
            element += position[i] * strides[i];
        return *element;
    }

    // The part that starts at `origin`, of the extents E where they are given. Whatever reads or
    // writes it leaves out the elements that this tensor does not have.
    template <size_t... E, class... I> constexpr auto slice(I... origin) const {
        static_assert(sizeof...(I) == Extents::rank(), "slice takes an origin for each dimension");
        static_assert(sizeof...(E) == 0 || sizeof...(E) == Extents::rank(),
                      "slice takes an extent for each dimension, or none");
        using Shape =
            conditional_t<sizeof...(E) == 0, Extents, extents<index_type, length_of(E)...>>;
        tensor<T, Shape, tensor_offset> part;
        part.data = data;
        const ptrdiff_t from[] = {ptrdiff_t(origin)...};
        index_type lengths[Extents::rank()];
        for (size_t i = 0; i < get_rank(); i++) {
            const bool open = Shape::static_extent(i) == dynamic_extent;
            lengths[i] = open ? shape.extent(i) : index_type(Shape::static_extent(i));
            part.data += from[i] * strides[i];
            part.strides[i] = strides[i];
            part.present[i] = clamp(present[i] - from[i], ptrdiff_t(0), ptrdiff_t(lengths[i]));
        }
        part.set_shape(lengths, __make_integer_seq<__msl::sequence, size_t, Extents::rank()>());
        return part;
    }
    template <size_t... E, class... I> constexpr auto static_slice(I... origin) const {
        static_assert(sizeof...(E) == Extents::rank(),
                      "static_slice takes an extent for each dimension");
        return slice<E...>(origin...);
    }

    // For the headers: whether the tensor has an element there.
    template <class I> constexpr bool __has(const array<I, Extents::rank()> &position) const {
        bool has = true;
        for (size_t i = 0; i < get_rank(); i++)
            has &= position[i] < present[i];
        return has;
    }
    constexpr T *__data() const { return data; }
    constexpr ptrdiff_t __stride(size_t i) const { return strides[i]; }
    constexpr ptrdiff_t __present(size_t i) const { return present[i]; }

  private:
    template <class, class, class> friend class tensor;

    constexpr tensor() = default;

    // A length that is left open is written in two ways.
    static constexpr size_t length_of(size_t length) {
        return length == size_t(__INT_MAX__) ? dynamic_extent : length;
    }
    static constexpr array<ptrdiff_t, Extents::rank()> packed(const Extents &shape) {
        array<ptrdiff_t, Extents::rank()> strides{};
        ptrdiff_t next = 1;
        for (size_t i = 0; i < get_rank(); i++) {
            strides[i] = next;
            next *= shape.extent(i);
        }
        return strides;
    }
    template <size_t... K>
    constexpr void set_shape(const index_type *lengths, __msl::sequence<size_t, K...>) {
        shape = Extents(lengths[K]...);
    }

    T *data = nullptr;
    Extents shape;
    ptrdiff_t strides[Extents::rank()] = {};
    ptrdiff_t present[Extents::rank()] = {};  // elements from the origin on
};

template <class T, class X> tensor(T *, const X &) -> tensor<T, X, tensor_inline>;
template <class T, class X, class S, size_t N>
tensor(T *, const X &, const array<S, N> &) -> tensor<T, X, tensor_inline>;

}  // namespace metal

namespace __msl {

template <class T> inline constexpr bool is_tensor = false;
template <class T, class X, class Tag>
inline constexpr bool is_tensor<metal::tensor<T, X, Tag>> = true;

}  // namespace __msl
