// How functions of scalars become functions of vectors.
#pragma once

namespace __msl {

template <class F, class T, int N, class... V> constexpr auto map(F f, vec<T, N> a, V... others) {
    vec<decltype(f(a.data[0], others.data[0]...)), N> result{};
    for (int i = 0; i < N; i++)
        result.data[i] = f(a.data[i], others.data[i]...);
    return result;
}

// The type in which operands of different scalar types meet.
template <class A, class B> struct common {
    using type = decltype(true ? A() : B());
};
template <class A> struct common<A, A> {
    using type = A;
};
template <class A, class B> using common_t = typename common<A, B>::type;

template <class... T> inline constexpr bool are_arithmetic = (is_arithmetic_v<T> && ...);

}  // namespace __msl
