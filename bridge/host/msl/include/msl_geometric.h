// <metal_geometric>
#pragma once

namespace metal {

template <class T, int N> constexpr T dot(const vec<T, N> &a, const vec<T, N> &b) {
    T sum = a.get(0) * b.get(0);
    for (int i = 1; i < N; i++)
        sum += a.get(i) * b.get(i);
    return sum;
}

}  // namespace metal
