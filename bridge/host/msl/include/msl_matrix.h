// <metal_matrix>: matrices of float and half, by columns.
#pragma once

namespace metal {

template <class T, int C, int R> struct matrix {
    using column = vec<T, R>;

    column columns[C];

    matrix() = default;
    // The diagonal.
    constexpr explicit matrix(T value) : columns{} {
        for (int i = 0; i < C && i < R; i++)
            columns[i].set(i, value);
    }
    // Columns, of which each may be a list in braces: no template could take that.
    template <int N = C, class = enable_if_t<N == 2>>
    constexpr matrix(const column &a, const column &b) : columns{a, b} {}
    template <int N = C, class = enable_if_t<N == 3>>
    constexpr matrix(const column &a, const column &b, const column &c) : columns{a, b, c} {}
    template <int N = C, class = enable_if_t<N == 4>>
    constexpr matrix(const column &a, const column &b, const column &c, const column &d)
        : columns{a, b, c, d} {}
    // A scalar is a vector elsewhere, but no column.
    template <class... S, class = enable_if_t<sizeof...(S) == C>,
              class = enable_if_t<(__msl::is_element<S> && ...)>>
    matrix(S...) = delete;
    template <class... S, class = enable_if_t<sizeof...(S) == C * R>,
              class = enable_if_t<(__msl::is_element<S> && ...)>, class = void>
    constexpr matrix(S... values) : columns{} {
        int i = 0;
        ((columns[i / R].set(i % R, T(values)), i++), ...);
    }
    template <class U, class = enable_if_t<!is_same_v<T, U>>>
    constexpr explicit matrix(const matrix<U, C, R> &from) : columns{} {
        for (int i = 0; i < C; i++)
            columns[i] = column(from.columns[i]);
    }

    constexpr column &operator[](int i) { return columns[i]; }
    constexpr const column &operator[](int i) const { return columns[i]; }

    friend constexpr matrix operator-(const matrix &a) {
        matrix result;
        for (int i = 0; i < C; i++)
            result[i] = -a[i];
        return result;
    }
    friend constexpr matrix operator+(const matrix &a, const matrix &b) {
        matrix result;
        for (int i = 0; i < C; i++)
            result[i] = a[i] + b[i];
        return result;
    }
    friend constexpr matrix operator-(const matrix &a, const matrix &b) {
        matrix result;
        for (int i = 0; i < C; i++)
            result[i] = a[i] - b[i];
        return result;
    }
    friend constexpr matrix operator*(const matrix &a, T b) {
        matrix result;
        for (int i = 0; i < C; i++)
            result[i] = a[i] * b;
        return result;
    }
    friend constexpr matrix operator*(T a, const matrix &b) { return b * a; }
    friend constexpr column operator*(const matrix &a, const vec<T, C> &b) {
        column sum = a[0] * b.get(0);
        for (int i = 1; i < C; i++)
            sum += a[i] * b.get(i);
        return sum;
    }
    friend constexpr vec<T, C> operator*(const column &a, const matrix &b) {
        vec<T, C> result{};
        for (int i = 0; i < C; i++)
            result.set(i, dot(a, b[i]));
        return result;
    }
    friend constexpr bool operator==(const matrix &a, const matrix &b) {
        bool equal = true;
        for (int i = 0; i < C; i++)
            equal &= all(a[i] == b[i]);
        return equal;
    }
    friend constexpr bool operator!=(const matrix &a, const matrix &b) { return !(a == b); }
    template <class B> constexpr matrix &operator+=(const B &b) { return *this = *this + b; }
    template <class B> constexpr matrix &operator-=(const B &b) { return *this = *this - b; }
    template <class B> constexpr matrix &operator*=(const B &b) { return *this = *this * b; }
};

template <class T, int K, int R, int C>
constexpr matrix<T, C, R> operator*(const matrix<T, K, R> &a, const matrix<T, C, K> &b) {
    matrix<T, C, R> result;
    for (int i = 0; i < C; i++)
        result[i] = a * b[i];
    return result;
}

template <class T, int C, int R> constexpr matrix<T, R, C> transpose(const matrix<T, C, R> &a) {
    matrix<T, R, C> result;
    for (int i = 0; i < C; i++) {
        for (int j = 0; j < R; j++)
            result[j].set(i, a[i].get(j));
    }
    return result;
}

template <class T> constexpr T determinant(const matrix<T, 2, 2> &m) {
    return m[0].get(0) * m[1].get(1) - m[1].get(0) * m[0].get(1);
}
template <class T> constexpr T determinant(const matrix<T, 3, 3> &m) {
    return dot(m[0], cross(m[1], m[2]));
}
// By the minors of the first row.
template <class T> constexpr T determinant(const matrix<T, 4, 4> &m) {
    T sum = 0;
    for (int i = 0; i < 4; i++) {
        matrix<T, 3, 3> minor;
        for (int k = 0, column = 0; k < 4; k++) {
            if (k != i) minor[column++] = {m[k].get(1), m[k].get(2), m[k].get(3)};
        }
        const T term = m[i].get(0) * determinant(minor);
        sum += i % 2 ? -term : term;
    }
    return sum;
}

#define MSL_MATRICES(T)                                                                            \
    using T##2x2 = matrix<T, 2, 2>;                                                                \
    using T##2x3 = matrix<T, 2, 3>;                                                                \
    using T##2x4 = matrix<T, 2, 4>;                                                                \
    using T##3x2 = matrix<T, 3, 2>;                                                                \
    using T##3x3 = matrix<T, 3, 3>;                                                                \
    using T##3x4 = matrix<T, 3, 4>;                                                                \
    using T##4x2 = matrix<T, 4, 2>;                                                                \
    using T##4x3 = matrix<T, 4, 3>;                                                                \
    using T##4x4 = matrix<T, 4, 4>;
MSL_MATRICES(float)
MSL_MATRICES(half)
#undef MSL_MATRICES

}  // namespace metal

#define MSL_GLOBAL(T)                                                                              \
    using metal::T##2x2, metal::T##2x3, metal::T##2x4, metal::T##3x2, metal::T##3x3,               \
        metal::T##3x4, metal::T##4x2, metal::T##4x3, metal::T##4x4;
MSL_GLOBAL(float)
MSL_GLOBAL(half)
#undef MSL_GLOBAL
