// <metal_uniform>: values that are the same in all threads. Here a promise that nothing relies on.
#pragma once

namespace metal {

template <class T> struct uniform {
    uniform() = default;
    constexpr uniform(T value) : value_(value) {}
    template <class U, class = enable_if_t<is_convertible_v<U, T> && !is_same_v<U, T>>>
    constexpr uniform(uniform<U> from) : value_(T(U(from))) {}
    constexpr operator T() const { return value_; }

  private:
    T value_;
};

template <class T> constexpr uniform<T> make_uniform(T value) {
    return value;
}

#define MSL_UNIFORM(OP)                                                                            \
    template <class A, class B>                                                                    \
    constexpr auto operator OP(uniform<A> a, uniform<B> b)                                         \
        ->uniform<decltype(declval<A>() OP declval<B>())> {                                        \
        return A(a) OP B(b);                                                                       \
    }
MSL_UNIFORM(+)
MSL_UNIFORM(-)
MSL_UNIFORM(*)
MSL_UNIFORM(/)
MSL_UNIFORM(%)
#undef MSL_UNIFORM

}  // namespace metal
