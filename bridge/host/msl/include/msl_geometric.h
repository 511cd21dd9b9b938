// <metal_geometric>
#pragma once

namespace metal {

template <class T, int N> constexpr T dot(vec<T, N> a, vec<T, N> b) {
    T sum = a.data[0] * b.data[0];
    for (int i = 1; i < N; i++)
        sum += a.data[i] * b.data[i];
    return sum;
}

}  // namespace metal
