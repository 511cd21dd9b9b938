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

template <class T, int N> using vector_of = typename native<T, N>::type;

template <class T, int N> inline vector_of<float, N> to_float(vector_of<T, N> from) {
    if constexpr (is_same_v<T, bfloat>) {
        const auto bits = __builtin_convertvector(from, vector_of<uint, N>) << 16;
        return __builtin_bit_cast(vector_of<float, N>, bits);
    } else {
        return __builtin_convertvector(from, vector_of<float, N>);
    }
}

// What a lane needs of the lanes' elements of a matrix, where the matrix is on the left of a
// product and where it is on the right: its row, and its two columns one after the other.
template <class T> using row_elements = vector_of<T, SIDE>;
template <class T> using column_elements = vector_of<T, 2 * SIDE>;

template <class T> inline row_elements<T> load_row(const T *from) {
    row_elements<T> elements;
    __builtin_memcpy(&elements, from, sizeof elements);
    return elements;
}
template <class T> inline row_elements<T> gather_row(const T *from, ulong stride) {
    T elements[SIDE];
    for (int k = 0; k < SIDE; k++)
        elements[k] = from[k * stride];
    return load_row(elements);
}
template <class T>
inline column_elements<T> join_columns(row_elements<T> first, row_elements<T> second) {
    return __builtin_shufflevector(first, second, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14,
                                   15);
}
// Of two columns side by side, row by row.
template <class T> inline column_elements<T> load_columns(const T *from, ulong stride) {
    using both = conditional_t<sizeof(T) == 4, ulong, uint>;
    both row[SIDE];
    for (int k = 0; k < SIDE; k++)
        __builtin_memcpy(&row[k], from + k * stride, sizeof(both));
    const vector_of<both, SIDE> rows = {row[0], row[1], row[2], row[3],
                                        row[4], row[5], row[6], row[7]};
    const auto elements = __builtin_bit_cast(column_elements<T>, rows);
    return __builtin_shufflevector(elements, elements, 0, 2, 4, 6, 8, 10, 12, 14, 1, 3, 5, 7, 9, 11,
                                   13, 15);
}

// The terms of a lane's two sums, eight of each: adding them up waits until the sums are asked for,
// so that most products cost no more than a multiplication and an addition of vectors.
using terms = vector_of<float, 2 * SIDE>;

template <class A, class B> inline terms multiply(row_elements<A> row, column_elements<B> columns) {
    const auto factors = to_float<A, SIDE>(row);
    return join_columns<float>(factors, factors) * to_float<B, 2 * SIDE>(columns);
}
// Out of line, as `multiply_together`.
__attribute__((noinline)) inline pair sum_of(terms t) {
    const auto fours = __builtin_shufflevector(t, t, 0, 1, 2, 3, 8, 9, 10, 11) +
                       __builtin_shufflevector(t, t, 4, 5, 6, 7, 12, 13, 14, 15);
    const auto twos = __builtin_shufflevector(fours, fours, 0, 1, 4, 5) +
                      __builtin_shufflevector(fours, fours, 2, 3, 6, 7);
    return pair(twos[0] + twos[1], twos[2] + twos[3]);
}

// What is yet to be added to a lane's two elements. Those of other types than float are rounded
// after each product, so that nothing can wait.
template <class T> struct addends {
    static constexpr bool can_wait = false;
    static constexpr bool any = false;
    void clear() {}
    pair sum() const { return 0.0f; }
};
template <> struct addends<float> {
    static constexpr bool can_wait = true;
    bool any = false;
    terms waiting = 0.0f;
    void clear() { *this = {}; }
    void add(const addends &others, terms more) {
        waiting = others.waiting + more;
        any = true;
    }
    pair sum() const { return sum_of(waiting); }
};

// What a lane brings to a product.
template <class A, class B> struct factors {
    vec<A, 2> a;
    vec<B, 2> b;
};

// Leaves each lane's part of the product where the lanes' operands were.
template <class A, class B> void multiply_for_all(const operands<factors<A, B>> &lanes) {
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

// The calling lane's part of the product of matrices that the lanes hold together. Out of line, so
// that the compiler unrolls the loops around products that need no meeting.
template <class A, class B>
MSL_CONVERGENT __attribute__((noinline)) pair multiply_together(vec<A, 2> a, vec<B, 2> b,
                                                                uint64_t site) {
    const auto lanes = meet(factors<A, B>{a, b}, site);
    if (!lanes.exchange->computed) {
        multiply_for_all(lanes);
        lanes.exchange->computed = 1;
    }
    return operands<pair>{lanes.exchange, lanes.lane}[lanes.lane];
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
        addends_ = from.addends_;
        if (exposed_) settle();
        whole_ = from.whole_ && !exposed_;
        if (whole_) row_ = from.row_, columns_ = from.columns_;
        return *this;
    }

    // The calling lane's. Whoever holds the reference may write at any time, so that from now on
    // no copies of other lanes' elements can be believed, and nothing may wait.
    storage_type &thread_elements() {
        settle();
        exposed_ = true;
        whole_ = false;
        return own_;
    }

    // Who may not change what the reference is to still may see what others change.
    const storage_type &thread_elements() const {
        return const_cast<simdgroup_matrix *>(this)->thread_elements();
    }

    // What the functions below are made of.
    storage_type __own() const { return addends_.any ? own_ + storage_type(addends_.sum()) : own_; }
    void __set(storage_type own) {
        own_ = own;
        addends_.clear();
        whole_ = false;
    }
    __attribute__((always_inline)) void __fill(T value) {
        __set(storage_type(value));
        whole_ = !exposed_;
        if (!whole_) return;
        T elements[__msl::SIDE];
        for (int k = 0; k < __msl::SIDE; k++)
            elements[k] = value;
        row_ = __msl::load_row(elements);
        columns_ = __msl::join_columns<T>(row_, row_);
    }
    __attribute__((always_inline)) void __load(const T *from, ulong stride, bool transposed) {
        const uint32_t lane = __msl::own_lane();
        const ulong row = __msl::row_of(lane), column = __msl::column_of(lane);
        const T *first = transposed ? from + column * stride + row : from + row * stride + column;
        __set(storage_type(first[0], first[transposed ? stride : 1]));
        whole_ = !exposed_;
        if (!whole_) return;
        if (transposed) {
            row_ = __msl::gather_row(from + row, stride);
            columns_ = __msl::join_columns<T>(__msl::load_row(from + column * stride),
                                              __msl::load_row(from + (column + 1) * stride));
        } else {
            row_ = __msl::load_row(from + row * stride);
            columns_ = __msl::load_columns(from + column, stride);
        }
    }
    // Becomes `c` and the product of `a` and `b`, of which it may be each.
    template <class A, class B, class C>
    MSL_CONVERGENT __attribute__((always_inline)) void
    __become(const simdgroup_matrix<A, 8, 8> &a, const simdgroup_matrix<B, 8, 8> &b,
             const simdgroup_matrix<C, 8, 8> &c, uint64_t site) {
        if constexpr (__msl::addends<T>::can_wait && is_same_v<C, T>) {
            if (a.whole_ && b.whole_ && !exposed_) {
                own_ = c.own_;
                addends_.add(c.addends_, __msl::multiply<A, B>(a.row_, b.columns_));
                whole_ = false;
                return;
            }
        }
        __set(storage_type(__msl::pair(c.__own()) + a.__times(b, site)));
    }
    // This lane's part of the product of this and `b`.
    template <class U>
    MSL_CONVERGENT __attribute__((always_inline)) __msl::pair
    __times(const simdgroup_matrix<U, 8, 8> &b, uint64_t site) const {
        if (whole_ && b.whole_) return __msl::sum_of(__msl::multiply<T, U>(row_, b.columns_));
        return __msl::multiply_together(__own(), b.__own(), site);
    }

  private:
    template <class U, int C, int R> friend class simdgroup_matrix;

    void settle() { own_ = __own(), addends_.clear(); }

    storage_type own_;
    [[no_unique_address]] __msl::addends<T> addends_;
    // What a product needs of other lanes, as it was loaded from memory: then the lanes need not
    // meet. The compiler drops the part that no product reads.
    bool whole_ = false, exposed_ = false;
    __msl::row_elements<T> row_;
    __msl::column_elements<T> columns_;
};

using simdgroup_float8x8 = simdgroup_matrix<float, 8, 8>;
using simdgroup_half8x8 = simdgroup_matrix<half, 8, 8>;
using simdgroup_bfloat8x8 = simdgroup_matrix<bfloat, 8, 8>;

template <class T, int COLUMNS, int ROWS = COLUMNS>
inline simdgroup_matrix<T, COLUMNS, ROWS> make_filled_simdgroup_matrix(T value) {
    simdgroup_matrix<T, COLUMNS, ROWS> result;
    result.__fill(value);
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
    to.__load(from + origin.get(1) * elements_per_row + origin.get(0), elements_per_row,
              transposed);
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
    const vec<T, 2> own = from.__own();
    to[0] = own.get(0);
    to[right] = own.get(1);
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
    result.__become(a, b, c, site);
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
