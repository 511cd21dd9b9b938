// What the generated entry functions use to read their arguments and to describe them, and the
// values of function constants.
#pragma once

namespace __msl {

template <class F> struct function {
    static_assert(!sizeof(F *), "a kernel returns void");
};
template <class... A> struct function<void (*)(A...)> {
    template <int I> using argument = __type_pack_element<I, A...>;
};

// A pointer, or the object that a reference stands for.
template <class A> inline A pointer(const void *address) {
    if constexpr (is_reference_v<A>) {
        return *(remove_reference_t<A> *)address;
    } else if constexpr (is_pointer_v<A>) {
        return (A)address;
    } else {
        static_assert(is_pointer_v<A>, "a bound parameter is a pointer or a reference");
    }
}

template <class A> inline A triple(const uint32_t *values) {
    if constexpr (__is_integral(A)) {
        return A(values[0]);
    } else if constexpr (A::size == 2) {
        return A(values[0], values[1]);
    } else {
        return A(values[0], values[1], values[2]);
    }
}

inline constexpr uint32_t no_origin[3] = {};

// How many groups of `size` threads a threadgroup has, the last one partial.
inline uint32_t groups_of(uint32_t size, const uint32_t *threads) {
    return (threads[0] * threads[1] * threads[2] + size - 1) / size;
}

// The n-th index that is not among `used`.
template <class... I> constexpr int free_index(int n, I... used) {
    int index = 0;
    while (((index == int(used)) || ...) || n-- > 0)
        index++;
    return index;
}

constexpr bool is_index(long index) {
    return index >= 0 && index < MSL_MAX_BUFFERS;
}

template <class T, class = void> struct layout {
    static constexpr uint32_t size = 0, alignment = 1;
};
template <class T> struct layout<T, enable_if_t<(sizeof(T) > 0)>> {
    static constexpr uint32_t size = sizeof(T), alignment = alignof(T);
};

template <class A, int INDEX>
constexpr msl_binding binding(const char *name, msl_binding_kind kind, bool used) {
    using T = remove_pointer_t<remove_reference_t<A>>;
    return {name,           uint32_t(INDEX),      uint32_t(kind), used,
            !is_const_v<T>, layout<T>::alignment, layout<T>::size};
}

// What a constant's type is, as declared_constants reads it: eight times the scalar's place in its
// list, and the number of components. 0: one that function constants cannot have.
template <class T> constexpr int constant_type() {
    if constexpr (is_enum_v<T>) {
        return constant_type<__underlying_type(T)>();
    } else if constexpr (is_same_v<T, bool>) {
        return 1 * 8 + 1;
    } else if constexpr (is_integral_v<T>) {
        constexpr int size = sizeof(T) == 1 ? 0 : sizeof(T) == 2 ? 1 : sizeof(T) == 4 ? 2 : 3;
        return (2 + 2 * size + (T(-1) > T(0))) * 8 + 1;
    } else {
        return is_same_v<T, half> ? 10 * 8 + 1 : is_same_v<T, float> ? 11 * 8 + 1 : 0;
    }
}
template <class T> struct any_constant_type {
    static constexpr int value = constant_type<T>();
};
template <class T, int N> struct any_constant_type<metal::vec<T, N>> {
    static constexpr int value = constant_type<T>() && N <= 4 ? constant_type<T>() + N - 1 : 0;
};
template <class T, int INDEX> struct declared_constant {
    static constexpr int declared = INDEX * 128 + any_constant_type<T>::value;
};

// The request's values are specialisations.
template <int INDEX> struct constant_value {
    static_assert(INDEX >= 0 && INDEX < 65536, "indices of function constants go from 0 to 65535");
    static constexpr bool defined = false;
};
template <class T, int INDEX, class NAME, bool = constant_value<INDEX>::defined>
struct function_constant : declared_constant<T, INDEX> {
    static constexpr bool defined = true;
    static constexpr T value = constant_value<INDEX>::template get<T>();
};
// One that was not given. It is defined nowhere: whether the compiled kernel still asks for it
// tells whether the kernel needs it. A text that is only checked gets any value.
template <class T, int INDEX, class NAME>
struct function_constant<T, INDEX, NAME, false> : declared_constant<T, INDEX> {
    static constexpr bool defined = false;
#ifdef __MSL_CHECK
    static constexpr T value = T(1);
#elif defined(__MSL_ZERO_CONSTANTS)
    static constexpr T value = T(0);
#else
    static const T value;
#endif
};

}  // namespace __msl

#define is_function_constant_defined(NAME) __msl_defined_##NAME
