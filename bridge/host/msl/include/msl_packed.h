// Packed vectors: no padding, and aligned like one component.
#pragma once

namespace metal {

template <class T, int N> struct packed_vec {
    T data[N];

    packed_vec() = default;
    constexpr packed_vec(vec<T, N> from) : data{} {
        for (int i = 0; i < N; i++)
            data[i] = from.get(i);
    }
    template <class... S, class = enable_if_t<(sizeof...(S) > 0)>,
              class = decltype(vec<T, N>(declval<S>()...))>
    constexpr packed_vec(S... values) : packed_vec(vec<T, N>(values...)) {}
    constexpr operator vec<T, N>() const {
        vec<T, N> result{};
        for (int i = 0; i < N; i++)
            result.set(i, data[i]);
        return result;
    }
    constexpr T get(int i) const { return data[i]; }
    constexpr T &operator[](size_t i) { return data[i]; }
    constexpr const T &operator[](size_t i) const { return data[i]; }
};

}  // namespace metal
