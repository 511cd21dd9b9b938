// <metal_geometric>
#pragma once

namespace metal {

template <class T, int N> constexpr T dot(const vec<T, N> &a, const vec<T, N> &b) {
    T sum = a.get(0) * b.get(0);
    for (int i = 1; i < N; i++)
        sum += a.get(i) * b.get(i);
    return sum;
}

template <class T> constexpr vec<T, 3> cross(const vec<T, 3> &a, const vec<T, 3> &b) {
    return {a.get(1) * b.get(2) - a.get(2) * b.get(1), a.get(2) * b.get(0) - a.get(0) * b.get(2),
            a.get(0) * b.get(1) - a.get(1) * b.get(0)};
}

template <class T, int N> constexpr T length_squared(const vec<T, N> &x) {
    return dot(x, x);
}
template <class T, int N> inline T length(const vec<T, N> &x) {
    return sqrt(dot(x, x));
}
template <class T, int N> constexpr T distance_squared(const vec<T, N> &a, const vec<T, N> &b) {
    return length_squared(a - b);
}
template <class T, int N> inline T distance(const vec<T, N> &a, const vec<T, N> &b) {
    return length(a - b);
}
template <class T, int N> inline vec<T, N> normalize(const vec<T, N> &x) {
    return x * rsqrt(dot(x, x));
}

template <class T, int N>
constexpr vec<T, N> faceforward(const vec<T, N> &n, const vec<T, N> &i,
                                const vec<T, N> &reference) {
    return dot(reference, i) < T(0) ? n : -n;
}
template <class T, int N> constexpr vec<T, N> reflect(const vec<T, N> &i, const vec<T, N> &n) {
    return i - T(2) * dot(n, i) * n;
}
template <class T, int N>
inline vec<T, N> refract(const vec<T, N> &i, const vec<T, N> &n, T ratio) {
    const T cosine = dot(n, i);
    const T k = T(1) - ratio * ratio * (T(1) - cosine * cosine);
    return k < T(0) ? vec<T, N>(T(0)) : ratio * i - (ratio * cosine + sqrt(k)) * n;
}

template <class T, int N, class S, class = __msl::if_arithmetic<S>>
inline vec<T, N> refract(const vec<T, N> &i, const vec<T, N> &n, S ratio) {
    return refract(i, n, T(ratio));
}

MSL_OF_PACKED(dot)
MSL_OF_PACKED(cross)
MSL_OF_PACKED(length_squared)
MSL_OF_PACKED(length)
MSL_OF_PACKED(distance_squared)
MSL_OF_PACKED(distance)
MSL_OF_PACKED(normalize)
MSL_OF_PACKED(faceforward)
MSL_OF_PACKED(reflect)
MSL_OF_PACKED(refract)

namespace precise {
using metal::distance, metal::distance_squared, metal::length, metal::length_squared,
    metal::normalize;
}
namespace fast {
using metal::distance, metal::distance_squared, metal::length, metal::length_squared,
    metal::normalize;
}

}  // namespace metal
