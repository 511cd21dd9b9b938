// What stands before a text when only its address spaces are checked: they are clang's own here,
// and types are no more than what they need to be, so that reading this takes no time. A function
// that is missing makes an expression that has no type, and such an expression is never wrong.
#pragma once
#include "__msl_abi.h"
#include "msl_traits.h"

#define __msl_space(NUMBER) __attribute__((address_space(NUMBER)))
#define kernel
#define device __msl_space(1)
#define constant const __msl_space(2)
#define threadgroup __msl_space(3)
#define thread
#define __msl_tgvar static threadgroup
#define __msl_tgstatic static
#define coherent(SCOPE)
#define METAL_FUNC inline
#define is_function_constant_defined(NAME) __msl_defined_##NAME

typedef _Float16 half;
typedef __bf16 bfloat;
typedef unsigned char uchar;
typedef unsigned short ushort;
typedef unsigned int uint;
typedef unsigned long ulong;
typedef __PTRDIFF_TYPE__ ptrdiff_t;

namespace metal {

using ::bfloat;
using ::half;
using ::uchar;
using ::uint;
using ::ulong;
using ::ushort;

template <class T, int N> using vec = T __attribute__((ext_vector_type(N)));
template <class T, int N> using packed_vec = vec<T, N>;
template <class T, int COLUMNS, int ROWS> struct matrix {
    vec<T, ROWS> columns[COLUMNS];
    vec<T, ROWS> &operator[](int i) { return columns[i]; }
    const vec<T, ROWS> &operator[](int i) const { return columns[i]; }
};
template <class T, size_t N> struct array {
    T elements[N];
    T &operator[](size_t i) { return elements[i]; }
    const T &operator[](size_t i) const { return elements[i]; }
};
template <class T> struct atomic {
    T value;
};
template <class T, int COLUMNS, int ROWS> struct simdgroup_matrix {
    T elements[2];
};

typedef atomic<int> atomic_int;
typedef atomic<uint> atomic_uint;
typedef atomic<bool> atomic_bool;
typedef atomic<ulong> atomic_ulong;
typedef atomic<float> atomic_float;
typedef simdgroup_matrix<float, 8, 8> simdgroup_float8x8;
typedef simdgroup_matrix<half, 8, 8> simdgroup_half8x8;
typedef simdgroup_matrix<bfloat, 8, 8> simdgroup_bfloat8x8;

#define MSL_VECTORS(T)                                                                             \
    typedef vec<T, 2> T##2, packed_##T##2;                                                         \
    typedef vec<T, 3> T##3, packed_##T##3;                                                         \
    typedef vec<T, 4> T##4, packed_##T##4;
MSL_VECTORS(bool)
MSL_VECTORS(char)
MSL_VECTORS(short)
MSL_VECTORS(int)
MSL_VECTORS(long)
MSL_VECTORS(uchar)
MSL_VECTORS(ushort)
MSL_VECTORS(uint)
MSL_VECTORS(ulong)
MSL_VECTORS(half)
MSL_VECTORS(bfloat)
MSL_VECTORS(float)
#undef MSL_VECTORS

#define MSL_MATRICES(T)                                                                            \
    typedef matrix<T, 2, 2> T##2x2;                                                                \
    typedef matrix<T, 2, 3> T##2x3;                                                                \
    typedef matrix<T, 2, 4> T##2x4;                                                                \
    typedef matrix<T, 3, 2> T##3x2;                                                                \
    typedef matrix<T, 3, 3> T##3x3;                                                                \
    typedef matrix<T, 3, 4> T##3x4;                                                                \
    typedef matrix<T, 4, 2> T##4x2;                                                                \
    typedef matrix<T, 4, 3> T##4x3;                                                                \
    typedef matrix<T, 4, 4> T##4x4;
MSL_MATRICES(half)
MSL_MATRICES(float)
#undef MSL_MATRICES

template <class T, class U> T as_type(U);

}  // namespace metal

using namespace metal;

namespace __msl {

using namespace metal;

template <class T, int INDEX> inline constexpr int declared_constant = 0;
template <class T, int INDEX, class NAME> struct function_constant {
    static constexpr bool defined = true;
    static constexpr __msl_space(2) T value = T(1);
};

// (device T *)x is written as *(__msl::converted<device T *>)x: plain C++ would let it cast
// anything.
template <class P> struct converted;
#define MSL_CONVERTED(SPACE)                                                                       \
    template <class T> struct converted<SPACE T *> {                                               \
        converted(const volatile SPACE void *);                                                    \
        converted(ulong);                                                                          \
        SPACE T *operator*() const;                                                                \
    };
MSL_CONVERTED(device)
MSL_CONVERTED(constant)
MSL_CONVERTED(threadgroup)
#undef MSL_CONVERTED
template <class T> struct converted<T *> {
    converted(const volatile void *);
    converted(ulong);
    T *operator*() const;
};

// Whether a kernel's argument is memory that a host can bind, or no memory at all.
template <class T> constexpr bool has_space = false;
template <class T> constexpr bool has_space<device T> = true;
template <class T> constexpr bool has_space<__msl_space(2) T> = true;
template <class T> constexpr bool has_space<threadgroup T> = true;
template <class A> constexpr bool is_argument = true;
template <class T> constexpr bool is_argument<T *> = has_space<T>;
template <class T> constexpr bool is_argument<T &> = has_space<T>;
template <class T, size_t N> constexpr bool is_argument<T (&)[N]> = has_space<T>;
template <class T, size_t N> constexpr bool is_argument<T (*)[N]> = has_space<T>;
template <int I, class... A> constexpr bool is_bindable(void (*)(A...)) {
    return is_argument<__type_pack_element<I, A...>>;
}

}  // namespace __msl
