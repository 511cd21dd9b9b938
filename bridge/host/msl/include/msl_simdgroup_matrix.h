// <metal_simdgroup_matrix>: 8 by 8 matrices whose elements are spread over a SIMD-group.
#pragma once
#include "msl_exchange.h"

namespace __msl {

inline constexpr int SIDE = 8;

// Where a lane's two elements stand, side by side in a row. Public kernels rely on this layout.
constexpr int row_of(uint32_t lane) {
    return int(lane / 16 * 4 + lane / 2 % 4);
}
constexpr int column_of(uint32_t lane) {
    return int(lane / 8 % 2 * 4 + lane % 2 * 2);
}

// A thread keeps its lane, so that one question does for a whole function.
__attribute__((const, noinline)) inline uint32_t own_lane() {
    uint32_t lane;
    engine.simd_begin(&lane);
    return lane;
}

using pair = vec<float, 2>;

// What a lane brings to a product.
template <class A, class B> struct factors {
    vec<A, 2> a;
    vec<B, 2> b;
};

// Leaves each lane's part of the product where the lanes' operands were.
template <class A, class B>
__attribute__((noinline)) void multiply_for_all(const operands<factors<A, B>> &lanes) {
    float a[SIDE][SIDE], b[SIDE][SIDE], product[SIDE][SIDE] = {};
    for (uint32_t lane = 0; lane < MSL_LANES; lane++) {
        const factors<A, B> brought = lanes[lane];
        const pair from_a = pair(brought.a), from_b = pair(brought.b);
        __builtin_memcpy(&a[row_of(lane)][column_of(lane)], &from_a, sizeof from_a);
        __builtin_memcpy(&b[row_of(lane)][column_of(lane)], &from_b, sizeof from_b);
    }
    for (int i = 0; i < SIDE; i++) {
        for (int k = 0; k < SIDE; k++) {
            for (int j = 0; j < SIDE; j++)
                product[i][j] += a[i][k] * b[k][j];
        }
    }
    for (uint32_t lane = 0; lane < MSL_LANES; lane++) {
        __builtin_memcpy(lanes.exchange->op + lane * sizeof(pair),
                         &product[row_of(lane)][column_of(lane)], sizeof(pair));
    }
}

}  // namespace __msl

namespace metal {

template <class T, int COLUMNS, int ROWS = COLUMNS> class simdgroup_matrix {
    static_assert(is_same_v<T, float> || is_same_v<T, half> || is_same_v<T, bfloat>,
                  "the elements of a simdgroup_matrix are float, half or bfloat");
    static_assert(COLUMNS == __msl::SIDE && ROWS == __msl::SIDE,
                  "a simdgroup_matrix has 8 columns and 8 rows");

  public:
    using storage_type = vec<T, 2>;

    simdgroup_matrix() = default;
    explicit simdgroup_matrix(T diagonal) {
        const uint32_t lane = __msl::own_lane();
        const int distance = __msl::row_of(lane) - __msl::column_of(lane);
        own_ = storage_type(distance == 0 ? diagonal : T(0), distance == 1 ? diagonal : T(0));
    }
    simdgroup_matrix(const simdgroup_matrix &from) { *this = from; }
    simdgroup_matrix &operator=(const simdgroup_matrix &from) {
        own_ = from.own_;
        whole_ = from.whole_ && !exposed_;
        if (!whole_) return *this;
        for (int k = 0; k < __msl::SIDE; k++)
            row_[k] = from.row_[k], columns_[k] = from.columns_[k];
        return *this;
    }

    // The calling lane's. Whoever holds the reference may write at any time, so that from now on
    // no copies of other lanes' elements can be believed.
    storage_type &thread_elements() {
        exposed_ = true;
        whole_ = false;
        return own_;
    }

    // What the functions below are made of.
    const storage_type &__own() const { return own_; }
    void __set(storage_type own) {
        own_ = own;
        whole_ = false;
    }
    // `at(row, column)` may be called for elements of other lanes.
    template <class F> __attribute__((always_inline)) void __load(F at) {
        const uint32_t lane = __msl::own_lane();
        const int row = __msl::row_of(lane), column = __msl::column_of(lane);
        own_ = storage_type(at(row, column), at(row, column + 1));
        whole_ = !exposed_;
        if (!whole_) return;
        for (int k = 0; k < __msl::SIDE; k++) {
            row_[k] = at(row, k);
            columns_[k] = storage_type(at(k, column), at(k, column + 1));
        }
    }
    // This lane's part of the product of this and `b`.
    template <class U>
    MSL_CONVERGENT __attribute__((always_inline)) __msl::pair
    __times(const simdgroup_matrix<U, 8, 8> &b, uint64_t site) const {
        if (whole_ && b.whole_) {
            __msl::pair sum = 0.0f;
            for (int k = 0; k < __msl::SIDE; k++)
                sum += float(row_[k]) * __msl::pair(b.columns_[k]);
            return sum;
        }
        const auto lanes = __msl::meet(__msl::factors<T, U>{own_, b.own_}, site);
        if (!lanes.exchange->computed) {
            __msl::multiply_for_all(lanes);
            lanes.exchange->computed = 1;
        }
        return __msl::operands<__msl::pair>{lanes.exchange, lanes.lane}[lanes.lane];
    }

  private:
    template <class U, int C, int R> friend class simdgroup_matrix;

    storage_type own_;
    // What a product needs of other lanes, as it was loaded from memory: then the lanes need not
    // meet. The compiler drops the part that no product reads.
    bool whole_ = false, exposed_ = false;
    T row_[__msl::SIDE];
    storage_type columns_[__msl::SIDE];
};

using simdgroup_float8x8 = simdgroup_matrix<float, 8, 8>;
using simdgroup_half8x8 = simdgroup_matrix<half, 8, 8>;
using simdgroup_bfloat8x8 = simdgroup_matrix<bfloat, 8, 8>;

template <class T, int COLUMNS, int ROWS = COLUMNS>
inline simdgroup_matrix<T, COLUMNS, ROWS> make_filled_simdgroup_matrix(T value) {
    simdgroup_matrix<T, COLUMNS, ROWS> result;
    result.__load([value](int, int) { return value; });
    return result;
}
template <class T, int COLUMNS, int ROWS = COLUMNS>
inline simdgroup_matrix<T, COLUMNS, ROWS> make_diagonal_simdgroup_matrix(T value) {
    return simdgroup_matrix<T, COLUMNS, ROWS>(value);
}

// The origin is a column and a row of memory, whether or not the matrix stands there transposed.
template <class T, int C, int R>
inline void simdgroup_load(simdgroup_matrix<T, C, R> &to, const T *from, ulong elements_per_row = C,
                           ulong2 origin = 0, bool transposed = false) {
    from += origin.get(1) * elements_per_row + origin.get(0);
    const ulong down = transposed ? 1 : elements_per_row, right = transposed ? elements_per_row : 1;
    to.__load([=](int row, int column) { return from[row * down + column * right]; });
}
template <class T, int C, int R>
inline void simdgroup_load(simdgroup_matrix<T, C, R> &to, const volatile T *from,
                           ulong elements_per_row = C, ulong2 origin = 0, bool transposed = false) {
    simdgroup_load(to, const_cast<const T *>(from), elements_per_row, origin, transposed);
}

// All lanes have loaded before one stores, as they would have in lockstep.
template <class T, int C, int R>
MSL_CONVERGENT inline void simdgroup_store(const simdgroup_matrix<T, C, R> &from, T *to,
                                           ulong elements_per_row = C, ulong2 origin = 0,
                                           bool transposed = false, MSL_SITE) {
    __msl::engine.simd_wait(site, 0);
    const uint32_t lane = __msl::own_lane();
    const ulong down = transposed ? 1 : elements_per_row, right = transposed ? elements_per_row : 1;
    to += origin.get(1) * elements_per_row + origin.get(0) + __msl::row_of(lane) * down +
          __msl::column_of(lane) * right;
    to[0] = from.__own().get(0);
    to[right] = from.__own().get(1);
}

// Sums are of float, and rounded once to the type of the result.
template <class T, class A, class B>
MSL_CONVERGENT inline void simdgroup_multiply(simdgroup_matrix<T, 8, 8> &result,
                                              const simdgroup_matrix<A, 8, 8> &a,
                                              const simdgroup_matrix<B, 8, 8> &b, MSL_SITE) {
    result.__set(vec<T, 2>(a.__times(b, site)));
}
template <class T, class A, class B, class C>
MSL_CONVERGENT inline void
simdgroup_multiply_accumulate(simdgroup_matrix<T, 8, 8> &result, const simdgroup_matrix<A, 8, 8> &a,
                              const simdgroup_matrix<B, 8, 8> &b,
                              const simdgroup_matrix<C, 8, 8> &c, MSL_SITE) {
    const __msl::pair product = a.__times(b, site);
    result.__set(vec<T, 2>(__msl::pair(c.__own()) + product));
}

// An operator cannot take its caller's place: lanes anywhere else are let catch up first.
template <class T>
MSL_CONVERGENT inline simdgroup_matrix<T, 8, 8> operator*(const simdgroup_matrix<T, 8, 8> &a,
                                                          const simdgroup_matrix<T, 8, 8> &b) {
    simdgroup_matrix<T, 8, 8> result;
    simdgroup_multiply(result, a, b, MSL_LAST_SITE);
    return result;
}
#define MSL_ELEMENTWISE(OP)                                                                        \
    template <class T>                                                                             \
    inline simdgroup_matrix<T, 8, 8> operator OP(const simdgroup_matrix<T, 8, 8> &a,               \
                                                 const simdgroup_matrix<T, 8, 8> &b) {             \
        simdgroup_matrix<T, 8, 8> result;                                                          \
        result.__set(a.__own() OP b.__own());                                                      \
        return result;                                                                             \
    }
MSL_ELEMENTWISE(+)
MSL_ELEMENTWISE(-)
#undef MSL_ELEMENTWISE

}  // namespace metal
