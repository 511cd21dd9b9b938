// matmul2d: the product of two matrices by the threads of a scope together.
#pragma once

namespace mpp::tensor_ops {

// The extent is that of the left operand.
template <class I> inline constexpr I dynamic_length_v = I(__INT_MAX__);

struct matmul2d_descriptor {
    enum class mode { multiply, multiply_accumulate };

    int m, n, k;
    bool transpose_left, transpose_right, relaxed_precision;
    mode matmul_mode;

    constexpr matmul2d_descriptor(int m, int n, int k = int(metal::dynamic_extent),
                                  bool transpose_left = false, bool transpose_right = false,
                                  bool relaxed_precision = false, mode matmul_mode = mode::multiply)
        : m(m), n(n), k(k), transpose_left(transpose_left), transpose_right(transpose_right),
          relaxed_precision(relaxed_precision), matmul_mode(matmul_mode) {}
};

template <matmul2d_descriptor D, class Scope, class... Arguments> class matmul2d {
    static constexpr bool OPEN_DEPTH = __msl::has_open_depth(D);
    static constexpr int DEPTH = OPEN_DEPTH ? 1 : D.k;

    template <int COLUMNS, int ROWS>
    using layout = __msl::matrix_layout<COLUMNS, ROWS, Scope::__threads>;
    template <class T, class I, int COLUMNS, int ROWS>
    using matrix =
        metal::cooperative_tensor<T, metal::extents<I, COLUMNS, ROWS>, layout<COLUMNS, ROWS>>;
    template <class T, class I>
    using left_input =
        metal::conditional_t<D.transpose_left, matrix<T, I, D.m, DEPTH>, matrix<T, I, DEPTH, D.m>>;
    template <class T, class I>
    using right_input =
        metal::conditional_t<D.transpose_right, matrix<T, I, DEPTH, D.n>, matrix<T, I, D.n, DEPTH>>;

  public:
    // No barrier: what other threads wrote to memory is to be made visible before, and what this
    // writes there, after.
    template <class Left, class Right, class Destination>
    MSL_CONVERGENT void run(Left &left, Right &right, Destination &destination, MSL_SITE) const {
        __msl::check_operands<D, Left, Right, Destination>();
        task<Left, Right, Destination> mine = {&left, &right, &destination};
        Scope::__act(&mine, &act<Left, Right, Destination>, site);
    }

    template <class L, class R, class T, class I = int>
    auto get_destination_cooperative_tensor() const {
        return matrix<T, I, D.n, D.m>(Scope::__index());
    }
    template <class L, class R, class T, class I = int>
    auto get_row_reduction_destination_cooperative_tensor() const {
        using Rows = __msl::row_layout<layout<D.n, D.m>>;
        return metal::cooperative_tensor<T, metal::extents<I, D.m>, Rows>(Scope::__index());
    }
    template <class L, class R, class T, class I = int>
    auto get_column_reduction_destination_cooperative_tensor() const {
        using Columns = __msl::column_layout<layout<D.n, D.m>>;
        return metal::cooperative_tensor<T, metal::extents<I, D.n>, Columns>(Scope::__index());
    }

    template <class L, class R, class T, class I = int>
    auto get_left_input_cooperative_tensor() const {
        __msl::check_input<D>();
        return left_input<L, I>(Scope::__index());
    }
    template <class L, class R, class T, class I = int>
    auto get_right_input_cooperative_tensor() const {
        __msl::check_input<D>();
        return right_input<R, I>(Scope::__index());
    }
    // With the elements of `from`, where each thread holds those that it needs.
    template <class L, class R, class T, class I = int, class From>
    auto get_left_input_cooperative_tensor(const From &from) const {
        __msl::check_conversion<From, left_input<L, I>>();
        return converted(get_left_input_cooperative_tensor<L, R, T, I>(), from);
    }
    template <class L, class R, class T, class I = int, class From>
    auto get_right_input_cooperative_tensor(const From &from) const {
        __msl::check_conversion<From, right_input<R, I>>();
        return converted(get_right_input_cooperative_tensor<L, R, T, I>(), from);
    }
    template <class L, class R, class T, class I = int, class From>
    bool is_compatible_as_left_input(const From &) const {
        return !OPEN_DEPTH &&
               metal::is_same_v<typename From::layout, typename left_input<L, I>::layout>;
    }
    template <class L, class R, class T, class I = int, class From>
    bool is_compatible_as_right_input(const From &) const {
        return !OPEN_DEPTH &&
               metal::is_same_v<typename From::layout, typename right_input<R, I>::layout>;
    }

  private:
    static constexpr bool ACCUMULATE =
        D.matmul_mode == matmul2d_descriptor::mode::multiply_accumulate;

    // What one thread brings along.
    template <class Left, class Right, class Destination> struct task {
        Left *left;
        Right *right;
        Destination *destination;
    };

    template <class A, class Left, class Right> struct area {
        __msl::workspace<A, D.m, D.n> space;
        __msl::gathered<Left> left;
        __msl::gathered<Right> right;
    };

    template <class To, class From> static To converted(To to, const From &from) {
        for (int slot = 0; slot < To::get_capacity(); slot++)
            to[slot] = __msl::element_of<To>(from[slot]);
        return to;
    }

    template <class Left, class Right, class Destination> static void act(void **all, uint32_t) {
        using A = __msl::accumulator<__msl::element_of<Left>, __msl::element_of<Right>>;
        const auto tasks = (const task<Left, Right, Destination> *const *)all;
        const auto left_of = [tasks](int i) -> const Left & { return *tasks[i]->left; };
        const auto right_of = [tasks](int i) -> const Right & { return *tasks[i]->right; };
        const auto result_of = [tasks](int i) -> Destination & { return *tasks[i]->destination; };
        auto &scratch =
            *(area<A, Left, Right> *)__msl::engine.scratch(sizeof(area<A, Left, Right>));
        auto left = __msl::gather<Left>(left_of, scratch.left);
        auto right = __msl::gather<Right>(right_of, scratch.right);
        if (D.transpose_left) left = left.transposed();
        if (D.transpose_right) right = right.transposed();
        int depth = metal::min(left.columns, right.rows);
        if (!OPEN_DEPTH) depth = metal::min(depth, D.k);
        __msl::multiply(scratch.space, left, right, depth);
        __msl::scatter<ACCUMULATE, Destination>(result_of, scratch.space, D.m, D.n);
    }
};

}  // namespace mpp::tensor_ops
