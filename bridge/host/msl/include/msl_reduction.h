// Sums and extremes of the rows and of the columns of a cooperative tensor.
#pragma once

namespace mpp::tensor_ops {

enum class reduction_operation { sum, max, min };

template <class T> struct reduction_operation_identity {
    static constexpr T sum_identity = T(0);
    static constexpr T max_identity = metal::numeric_limits<T>::lowest();
    static constexpr T min_identity = metal::numeric_limits<T>::max();
};

}  // namespace mpp::tensor_ops

namespace __msl {

template <class Source, class Destination> class matrix_reduction {
  public:
    using T = typename Source::element_type;
    using operation = mpp::tensor_ops::reduction_operation;

    // What one thread brings along.
    Source *source;
    Destination *destination;
    operation op;
    T identity;

    // Which result an element belongs to: the dimension of its position.
    template <int DIMENSION> static void act(void **all, uint32_t threads) {
        using From = typename Source::layout;
        using To = typename Destination::layout;
        const auto tasks = (const matrix_reduction *const *)all;
        const matrix_reduction &first = *tasks[0];
        T results[DIMENSION == 0 ? From::columns : From::rows];
        for (T &result : results)
            result = first.identity;
        for (uint32_t thread = 0; thread < threads; thread++) {
            for (int slot = 0; slot < From::capacity; slot++) {
                if (!From::valid(thread, slot)) continue;
                T &result = results[From::position(thread, slot)[DIMENSION]];
                result = combined(first.op, result, (*tasks[thread]->source)[slot]);
            }
        }
        for (uint32_t thread = 0; thread < threads; thread++) {
            for (int slot = 0; slot < To::capacity; slot++) {
                if (!To::valid(thread, slot)) continue;
                (*tasks[thread]->destination)[slot] = results[To::position(thread, slot)[0]];
            }
        }
    }

  private:
    static T combined(operation op, T a, T b) {
        switch (op) {
        case operation::max:
            return maximum()(a, b);
        case operation::min:
            return minimum()(a, b);
        case operation::sum:
            break;
        }
        return T(a + b);
    }
};

template <int DIMENSION, class Source, class Destination> constexpr void check_reduction() {
    using From = typename Source::layout;
    using To = typename Destination::layout;
    using Needed = metal::conditional_t<DIMENSION == 0, column_layout<From>, row_layout<From>>;
    static_assert(
        From::threads == MSL_LANES,
        "reductions work within a SIMD-group: take the cooperative tensor from a matmul2d "
        "over execution_simdgroup");
    static_assert(
        metal::is_same_v<To, Needed> &&
            metal::is_same_v<typename Source::element_type, typename Destination::element_type>,
        "reductions need the destination that the same matmul2d gives for them, with the "
        "same element type");
}

}  // namespace __msl

namespace mpp::tensor_ops {

// The identity is that of sums unless another is given, whatever the operation.
template <class Source, class Destination, class T = typename Source::element_type>
MSL_CONVERGENT void reduce_rows(
    Source &source, Destination &destination, reduction_operation op = reduction_operation::sum,
    __msl::undeduced<T> identity = reduction_operation_identity<T>::sum_identity, MSL_SITE) {
    __msl::check_reduction<1, Source, Destination>();
    __msl::matrix_reduction<Source, Destination> mine = {&source, &destination, op, identity};
    metal::execution_simdgroup::__act(&mine, &mine.template act<1>, site);
}
template <class Source, class Destination, class T = typename Source::element_type>
MSL_CONVERGENT void reduce_columns(
    Source &source, Destination &destination, reduction_operation op = reduction_operation::sum,
    __msl::undeduced<T> identity = reduction_operation_identity<T>::sum_identity, MSL_SITE) {
    __msl::check_reduction<0, Source, Destination>();
    __msl::matrix_reduction<Source, Destination> mine = {&source, &destination, op, identity};
    metal::execution_simdgroup::__act(&mine, &mine.template act<0>, site);
}

// Whether each thread has, in `destination`, what belongs to each of its elements in `source`.
template <class Source, class Destination>
bool is_iterator_compatible(const Source &, const Destination &) {
    using From = typename Source::layout;
    using To = typename Destination::layout;
    static_assert(From::rank == 2, "is_iterator_compatible: the source is a matrix");
    bool compatible = From::threads == To::threads;
    for (int thread = 0; thread < From::threads && compatible; thread++) {
        for (int slot = 0; slot < From::capacity && From::valid(thread, slot); slot++)
            compatible &= To::slot(thread, From::position(thread, slot)) >= 0;
    }
    return compatible;
}

}  // namespace mpp::tensor_ops
