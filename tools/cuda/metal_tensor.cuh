// What the shaders use of <metal_tensor> and matmul2d, in plain loops over the threads of a
// threadgroup. As in Metal, a product is no barrier; every thread reads whole rows and columns, so
// a missing barrier shows. It is included inside namespace msl.

template <typename T, int N> struct array {
    T elements[N];
    constexpr T operator[](int i) const { return elements[i]; }
};

template <typename Index, int RANK> struct dextents {
    Index sizes[RANK];
    dextents(Index columns, Index rows) : sizes{columns, rows} {}
};

struct tensor_inline {};

template <typename T, typename Extents, typename Kind> struct tensor {
    using element_type = T;
    T *first;
    long row_stride;
    tensor(T *first, Extents extents) : first(first), row_stride(extents.sizes[0]) {}
    tensor(T *first, Extents, array<int, 2> strides) : first(first), row_stride(strides[1]) {}
    T &at(int row, int column) const { return first[row * row_stride + column]; }
};

template <int N> struct execution_simdgroups {
    static constexpr int THREADS = N * 32;
};

struct matmul2d_descriptor {
    enum class mode { multiply, multiply_accumulate };
    int m, n, k;
    bool transpose_left, transpose_right, relaxed_precision;
    mode how;
    constexpr matmul2d_descriptor(int m, int n, int k, bool transpose_left, bool transpose_right,
                                  bool relaxed_precision, mode how)
        : m(m), n(n), k(k), transpose_left(transpose_left), transpose_right(transpose_right),
          relaxed_precision(relaxed_precision), how(how) {}
};

// Element `slot` of thread t is the (t + slot * THREADS)th of the whole, row by row.
template <typename T, int COLUMNS, int ELEMENTS, int THREADS> struct cooperative_tensor {
    static_assert(ELEMENTS % THREADS == 0, "every slot holds an element");
    T elements[ELEMENTS / THREADS];
    static constexpr ushort get_capacity() { return ELEMENTS / THREADS; }
    static bool is_valid_element(ushort) { return true; }
    T &operator[](ushort slot) { return elements[slot]; }
    static array<int, 2> get_multidimensional_index(ushort slot) {
        const int i = int(linear_thread_index()) + slot * THREADS;
        return {i % COLUMNS, i / COLUMNS};
    }
};

template <matmul2d_descriptor PRODUCT, typename Scope> struct matmul2d {
    template <typename Left, typename Right, typename T>
    cooperative_tensor<T, PRODUCT.n, PRODUCT.m * PRODUCT.n, Scope::THREADS>
    get_destination_cooperative_tensor() const {
        return {};
    }

    template <typename Left, typename Right>
    static float element(const Left &left, const Right &right, int row, int column) {
        static_assert(!PRODUCT.transpose_left, "no shader transposes its left operand");
        float sum = 0.0f;
        for (int i = 0; i < PRODUCT.k; i++) {
            const auto factor = PRODUCT.transpose_right ? right.at(column, i) : right.at(i, column);
            sum += float(left.at(row, i)) * float(factor);
        }
        return sum;
    }

    template <typename Left, typename Right, typename T, typename Extents, typename Kind>
    void run(const Left &left, const Right &right, tensor<T, Extents, Kind> &result) const {
        static_assert(PRODUCT.how == matmul2d_descriptor::mode::multiply, "memory is overwritten");
        for (int i = int(linear_thread_index()); i < PRODUCT.m * PRODUCT.n; i += Scope::THREADS) {
            const int row = i / PRODUCT.n, column = i % PRODUCT.n;
            result.at(row, column) = element(left, right, row, column);
        }
    }

    template <typename Left, typename Right, typename T, int COLUMNS, int ELEMENTS, int THREADS>
    void run(const Left &left, const Right &right,
             cooperative_tensor<T, COLUMNS, ELEMENTS, THREADS> &result) const {
        for (ushort slot = 0; slot < result.get_capacity(); slot++) {
            const auto position = result.get_multidimensional_index(slot);
            const float sum = element(left, right, position[1], position[0]);
            if (PRODUCT.how == matmul2d_descriptor::mode::multiply_accumulate)
                result[slot] += sum;
            else
                result[slot] = sum;
        }
    }
};
