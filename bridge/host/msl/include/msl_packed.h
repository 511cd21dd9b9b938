// Packed vectors: no padding, and aligned like one component.
#pragma once

namespace metal {

template <class T, int N> struct packed_values;
#define MSL_PACKED(N)                                                                              \
    template <class T> struct packed_values<T, N> {                                                \
        MSL_COMPONENTS(packed_values, N, )                                                         \
    };                                                                                             \
    template <class T> struct packed_vec<T, N> : packed_values<T, N> {                             \
        packed_vec() = default;                                                                    \
        constexpr packed_vec(const vec<T, N> &from) : packed_values<T, N>(0) {                     \
            for (int i = 0; i < N; i++)                                                            \
                set(i, from.get(i));                                                               \
        }                                                                                          \
        template <class... S, class = decltype(vec<T, N>(declval<const S &>()...)),                \
                  class = enable_if_t<(sizeof...(S) > 0)>>                                         \
        constexpr packed_vec(const S &...values) : packed_vec(vec<T, N>(values...)) {}             \
        constexpr operator vec<T, N>() const {                                                     \
            vec<T, N> result{};                                                                    \
            for (int i = 0; i < N; i++)                                                            \
                result.set(i, get(i));                                                             \
            return result;                                                                         \
        }                                                                                          \
        constexpr T get(int i) const {                                                             \
            return (*this)[i];                                                                     \
        }                                                                                          \
        constexpr void set(int i, T value) {                                                       \
            (*this)[i] = value;                                                                    \
        }                                                                                          \
        MSL_SWIZZLES_##N                                                                           \
    };
MSL_PACKED(2)
MSL_PACKED(3)
MSL_PACKED(4)
#undef MSL_PACKED

// 0 components: no vector.
template <class T> struct vec_elements : integral_constant<size_t, 0> {};
template <class T> struct make_scalar {
    using type = remove_cv_t<T>;
};
#define MSL_VECTOR_TRAITS(VECTOR)                                                                  \
    template <class T, int N> struct is_integral<VECTOR<T, N>> : is_integral<T> {};                \
    template <class T, int N> struct is_floating_point<VECTOR<T, N>> : is_floating_point<T> {};    \
    template <class T, int N> struct is_signed<VECTOR<T, N>> : is_signed<T> {};                    \
    template <class T, int N> struct is_unsigned<VECTOR<T, N>> : is_unsigned<T> {};                \
    template <class T, int N> struct is_class<VECTOR<T, N>> : false_type {};                       \
    template <class T, int N> struct vec_elements<VECTOR<T, N>> : integral_constant<size_t, N> {}; \
    template <class T, int N> struct make_scalar<VECTOR<T, N>> {                                   \
        using type = T;                                                                            \
    };                                                                                             \
    template <class T, int N> struct make_unsigned<VECTOR<T, N>> {                                 \
        using type = VECTOR<make_unsigned_t<T>, N>;                                                \
    };                                                                                             \
    template <class T, int N> struct make_signed<VECTOR<T, N>> {                                   \
        using type = VECTOR<make_signed_t<T>, N>;                                                  \
    };
MSL_VECTOR_TRAITS(vec)
MSL_VECTOR_TRAITS(packed_vec)
#undef MSL_VECTOR_TRAITS
template <class T> struct vec_elements<const T> : vec_elements<T> {};
template <class T> struct vec_elements<volatile T> : vec_elements<T> {};
template <class T> struct make_scalar<const T> : make_scalar<T> {};
template <class T> struct make_scalar<volatile T> : make_scalar<T> {};
template <class T> using make_scalar_t = typename make_scalar<T>::type;
template <class T> struct is_vector : bool_constant<(vec_elements<T>::value > 0)> {};
template <class T> inline constexpr bool is_vector_v = is_vector<T>::value;

// With a vector the vector's own operators do; these are for two packed ones, or a scalar.
#define MSL_OPERATOR(OP)                                                                           \
    template <class T, int N>                                                                      \
    constexpr auto operator OP(const packed_vec<T, N> &a, const packed_vec<T, N> &b) {             \
        return vec<T, N>(a) OP vec<T, N>(b);                                                       \
    }                                                                                              \
    template <class T, int N, class S, class = enable_if_t<__msl::is_element<S>>>                  \
    constexpr auto operator OP(const packed_vec<T, N> &a, S b) {                                   \
        return vec<T, N>(a) OP vec<T, N>(b);                                                       \
    }                                                                                              \
    template <class T, int N, class S, class = enable_if_t<__msl::is_element<S>>>                  \
    constexpr auto operator OP(S a, const packed_vec<T, N> &b) {                                   \
        return vec<T, N>(a) OP vec<T, N>(b);                                                       \
    }
#define MSL_ASSIGNING_OPERATOR(OP)                                                                 \
    MSL_OPERATOR(OP)                                                                               \
    template <class T, int N, class B>                                                             \
    constexpr packed_vec<T, N> &operator OP##=(packed_vec<T, N> &a, const B & b) {                 \
        return a = vec<T, N>(a) OP vec<T, N>(b);                                                   \
    }
MSL_ASSIGNING_OPERATOR(+)
MSL_ASSIGNING_OPERATOR(-)
MSL_ASSIGNING_OPERATOR(*)
MSL_ASSIGNING_OPERATOR(/)
MSL_ASSIGNING_OPERATOR(%)
MSL_ASSIGNING_OPERATOR(&)
MSL_ASSIGNING_OPERATOR(|)
MSL_ASSIGNING_OPERATOR(^)
MSL_ASSIGNING_OPERATOR(<<)
MSL_ASSIGNING_OPERATOR(>>)
MSL_OPERATOR(==)
MSL_OPERATOR(!=)
MSL_OPERATOR(<)
MSL_OPERATOR(>)
MSL_OPERATOR(<=)
MSL_OPERATOR(>=)
MSL_OPERATOR(&&)
MSL_OPERATOR(||)
#undef MSL_ASSIGNING_OPERATOR
#undef MSL_OPERATOR

#define MSL_UNARY_OPERATOR(OP)                                                                     \
    template <class T, int N> constexpr auto operator OP(const packed_vec<T, N> &a) {              \
        return OP vec<T, N>(a);                                                                    \
    }
MSL_UNARY_OPERATOR(+)
MSL_UNARY_OPERATOR(-)
MSL_UNARY_OPERATOR(~)
MSL_UNARY_OPERATOR(!)
#undef MSL_UNARY_OPERATOR

#define MSL_PACKED_VECTORS(T)                                                                      \
    using packed_##T##2 = packed_vec<T, 2>;                                                        \
    using packed_##T##3 = packed_vec<T, 3>;                                                        \
    using packed_##T##4 = packed_vec<T, 4>;
MSL_PACKED_VECTORS(bool)
MSL_PACKED_VECTORS(char)
MSL_PACKED_VECTORS(uchar)
MSL_PACKED_VECTORS(short)
MSL_PACKED_VECTORS(ushort)
MSL_PACKED_VECTORS(int)
MSL_PACKED_VECTORS(uint)
MSL_PACKED_VECTORS(long)
MSL_PACKED_VECTORS(ulong)
MSL_PACKED_VECTORS(half)
MSL_PACKED_VECTORS(bfloat)
MSL_PACKED_VECTORS(float)
#undef MSL_PACKED_VECTORS

}  // namespace metal

#define MSL_GLOBAL(T)                                                                              \
    using metal::packed_##T##2;                                                                    \
    using metal::packed_##T##3;                                                                    \
    using metal::packed_##T##4;
MSL_GLOBAL(bool)
MSL_GLOBAL(char)
MSL_GLOBAL(uchar)
MSL_GLOBAL(short)
MSL_GLOBAL(ushort)
MSL_GLOBAL(int)
MSL_GLOBAL(uint)
MSL_GLOBAL(long)
MSL_GLOBAL(ulong)
MSL_GLOBAL(half)
MSL_GLOBAL(bfloat)
MSL_GLOBAL(float)
#undef MSL_GLOBAL
