// cooperative_tensor: a tensor whose elements are spread over the threads of a scope.
#pragma once

namespace metal {

template <class T, class Extents, class Layout> class cooperative_tensor {
  public:
    using element_type = T;
    using extents_type = Extents;
    using layout = Layout;
    using index_type = typename Extents::index_type;
    using position_type = array<index_type, Extents::rank()>;

    // A slot of one of the calling thread's tensors.
    template <class Tensor> class slot_iterator {
      public:
        constexpr slot_iterator(Tensor *tensor, int slot) : tensor(tensor), slot(slot) {}

        auto &operator*() const { return (*tensor)[slot]; }
        auto *operator->() const { return &(*tensor)[slot]; }
        slot_iterator &operator++() {
            slot++;
            return *this;
        }
        slot_iterator operator++(int) { return {tensor, slot++}; }
        bool operator==(const slot_iterator &other) const { return slot == other.slot; }
        bool operator!=(const slot_iterator &other) const { return slot != other.slot; }
        bool is_valid_element() const { return tensor->is_valid_element(slot); }
        bool get_mask() const { return is_valid_element(); }
        auto get_multidimensional_index() const { return tensor->get_multidimensional_index(slot); }

        const Tensor &__tensor() const { return *tensor; }
        int __slot() const { return slot; }

      private:
        Tensor *tensor;
        int slot;
    };
    using iterator = slot_iterator<cooperative_tensor>;
    using const_iterator = slot_iterator<const cooperative_tensor>;

    // `thread` counts in the scope. What the kernel does not set is no number.
    explicit cooperative_tensor(uint32_t thread) : thread(int(thread)) {
        __builtin_memset(elements, 0xff, sizeof elements);
    }

    static constexpr uint16_t get_capacity() { return Layout::capacity; }
    bool is_valid_element(int slot) const { return Layout::valid(thread, slot); }
    bool get_mask(int slot) const { return is_valid_element(slot); }  // of older headers
    T &operator[](int slot) { return elements[slot]; }
    const T &operator[](int slot) const { return elements[slot]; }

    // The column; then, in a matrix, the row.
    position_type get_multidimensional_index(int slot) const {
        const auto from = Layout::position(thread, slot);
        position_type position;
        for (size_t i = 0; i < Extents::rank(); i++)
            position[i] = index_type(from[i]);
        return position;
    }

    iterator begin() { return {this, 0}; }
    iterator end() { return {this, Layout::capacity}; }
    const_iterator begin() const { return {this, 0}; }
    const_iterator end() const { return {this, Layout::capacity}; }
    iterator get_iterator(int slot) { return {this, slot}; }
    const_iterator get_iterator(int slot) const { return {this, slot}; }

    // Where this tensor keeps what belongs to the element of a matrix that `source` points to.
    template <class Iterator> iterator map_iterator(const Iterator &source, MSL_SITE) {
        using Source =
            typename remove_cv_t<remove_reference_t<decltype(source.__tensor())>>::layout;
        static_assert(Source::rank == 2, "map_iterator takes an iterator into a matrix");
        const int slot = Layout::slot(thread, Source::position(thread, source.__slot()));
        if (slot < 0 && source.is_valid_element()) {
            __msl::engine.misuse(site, "map_iterator: the thread does not hold what belongs to the "
                                       "element; ask is_iterator_compatible");
        }
        return {this, slot};
    }

    // Elements that `from` does not have become 0.
    template <class Tensor> void load(const Tensor &from) {
        static_assert(Tensor::get_rank() == Extents::rank(),
                      "load takes a tensor of the same rank");
        for (int slot = 0; slot < Layout::capacity; slot++) {
            const position_type position = get_multidimensional_index(slot);
            if (!is_valid_element(slot)) continue;
            elements[slot] = from.__has(position) ? T(from[position]) : T(0);
        }
    }
    // Leaves out the elements that `to` does not have.
    template <class Tensor> void store(const Tensor &to) const {
        static_assert(Tensor::get_rank() == Extents::rank(),
                      "store takes a tensor of the same rank");
        for (int slot = 0; slot < Layout::capacity; slot++) {
            const position_type position = get_multidimensional_index(slot);
            if (is_valid_element(slot) && to.__has(position))
                to[position] = typename Tensor::value_type(elements[slot]);
        }
    }

  private:
    T elements[Layout::capacity];
    int thread;
};

}  // namespace metal

namespace __msl {

template <class T> inline constexpr bool is_cooperative = false;
template <class T, class X, class Layout>
inline constexpr bool is_cooperative<metal::cooperative_tensor<T, X, Layout>> = true;

}  // namespace __msl
