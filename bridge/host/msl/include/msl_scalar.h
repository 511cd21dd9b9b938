// Scalar types and constants.
#pragma once
#include <float.h>
#include <limits.h>

typedef _Float16 half;
typedef unsigned char uchar;
typedef unsigned short ushort;
typedef unsigned int uint;
typedef unsigned long ulong;
typedef __PTRDIFF_TYPE__ ptrdiff_t;

class bfloat;
// Before the class, whose own operators ask.
template <> struct metal::is_floating_point<bfloat> : metal::true_type {};

// The 16 high bits of a float. A class, since __bf16 of C++ has other conversions than MSL's:
// implicit to float and from integers, explicit from float.
class bfloat {
    template <class T>
    static constexpr bool is_other_real = metal::is_same_v<T, float> || metal::is_same_v<T, half>;

  public:
    bfloat() = default;
    template <class T, class = metal::enable_if_t<__msl::is_integer<T>>>
    constexpr bfloat(T value) : bits(rounded(float(value))) {}
    constexpr explicit bfloat(float value) : bits(rounded(value)) {}
    constexpr explicit bfloat(half value) : bits(rounded(float(value))) {}
    // A template, of which nothing else is made: were a bfloat an int by way of float, `?:` could
    // not choose between a bfloat and a literal.
    template <class T, class = metal::enable_if_t<metal::is_same_v<T, float>>>
    constexpr operator T() const {
        return __builtin_bit_cast(float, uint(bits) << 16);
    }
    // Sorts that give values or indices assign one to the other where they never come by.
    template <class T, metal::enable_if_t<metal::is_same_v<T, uint>, int> = 0>
    constexpr operator T() const {
        return T(float(*this));
    }
    template <class T,
              class = metal::enable_if_t<__msl::is_integer<T> && !metal::is_same_v<T, uint>>,
              class = void>
    constexpr explicit operator T() const {
        return T(float(*this));
    }
    constexpr explicit operator half() const { return half(float(*this)); }

    // With an integer it stays bfloat, with another real number it becomes a float. Said for each,
    // as the operators of the language could not choose between the conversions.
#define MSL_BFLOAT(RESULT, OP)                                                                     \
    friend constexpr RESULT operator OP(bfloat a, bfloat b) {                                      \
        return RESULT(float(a) OP float(b));                                                       \
    }                                                                                              \
    template <class T, class = metal::enable_if_t<__msl::is_integer<T>>>                           \
    friend constexpr RESULT operator OP(bfloat a, T b) {                                           \
        return a OP bfloat(b);                                                                     \
    }                                                                                              \
    template <class T, class = metal::enable_if_t<__msl::is_integer<T>>>                           \
    friend constexpr RESULT operator OP(T a, bfloat b) {                                           \
        return bfloat(a) OP b;                                                                     \
    }                                                                                              \
    template <class T, metal::enable_if_t<is_other_real<T>, int> = 0>                              \
    friend constexpr auto operator OP(bfloat a, T b) {                                             \
        return float(a) OP float(b);                                                               \
    }                                                                                              \
    template <class T, metal::enable_if_t<is_other_real<T>, int> = 0>                              \
    friend constexpr auto operator OP(T a, bfloat b) {                                             \
        return float(a) OP float(b);                                                               \
    }
    MSL_BFLOAT(bfloat, +)
    MSL_BFLOAT(bfloat, -)
    MSL_BFLOAT(bfloat, *)
    MSL_BFLOAT(bfloat, /)
    MSL_BFLOAT(bool, ==)
    MSL_BFLOAT(bool, !=)
    MSL_BFLOAT(bool, <)
    MSL_BFLOAT(bool, >)
    MSL_BFLOAT(bool, <=)
    MSL_BFLOAT(bool, >=)
#undef MSL_BFLOAT
#define MSL_COMPOUND(OP)                                                                           \
    template <class T, class = metal::enable_if_t<__msl::is_number<T>>>                            \
    friend constexpr T &operator OP(T & a, bfloat b) {                                             \
        return a OP float(b);                                                                      \
    }
    MSL_COMPOUND(+=)
    MSL_COMPOUND(-=)
    MSL_COMPOUND(*=)
    MSL_COMPOUND(/=)
#undef MSL_COMPOUND
    friend constexpr bfloat operator+(bfloat a) { return a; }
    friend constexpr bfloat operator-(bfloat a) { return bfloat(-float(a)); }
    constexpr bfloat &operator++() { return *this += 1.0f; }
    constexpr bfloat &operator--() { return *this -= 1.0f; }
    constexpr bfloat operator++(int) {
        const bfloat before = *this;
        ++*this;
        return before;
    }
    constexpr bfloat operator--(int) {
        const bfloat before = *this;
        --*this;
        return before;
    }
    constexpr bfloat &operator+=(float b) { return *this = bfloat(float(*this) + b); }
    constexpr bfloat &operator-=(float b) { return *this = bfloat(float(*this) - b); }
    constexpr bfloat &operator*=(float b) { return *this = bfloat(float(*this) * b); }
    constexpr bfloat &operator/=(float b) { return *this = bfloat(float(*this) / b); }

  private:
    // To nearest, ties to even; a NaN keeps a bit of its payload.
    static constexpr ushort rounded(float value) {
        const uint wide = __builtin_bit_cast(uint, value);
        if ((wide & 0x7fffffff) > 0x7f800000) return ushort(wide >> 16 | 0x40);
        return ushort((wide + 0x7fff + (wide >> 16 & 1)) >> 16);
    }

    ushort bits;
};

template <> struct metal::is_scalar<bfloat> : metal::true_type {};

namespace metal {
using ::bfloat;
using ::half;
using ::uchar;
using ::uint;
using ::ulong;
using ::ushort;
}  // namespace metal

#undef INFINITY
#undef NAN
#define INFINITY __builtin_inff()
#define NAN __builtin_nanf("")
#define HUGE_VALF __builtin_inff()
#define HUGE_VALH ((half)__builtin_inff())
#define MAXFLOAT FLT_MAX
#define MAXHALF ((half)65504.0f)

#define HALF_DIG 3
#define HALF_MANT_DIG 11
#define HALF_MAX_10_EXP 4
#define HALF_MAX_EXP 16
#define HALF_MIN_10_EXP (-4)
#define HALF_MIN_EXP (-13)
#define HALF_RADIX 2
#define HALF_MAX ((half)65504.0f)
#define HALF_MIN ((half)6.103515625e-5f)
#define HALF_EPSILON ((half)9.765625e-4f)

#define M_E_F 2.71828182845904523536028747135266250f
#define M_LOG2E_F 1.44269504088896340735992468100189214f
#define M_LOG10E_F 0.434294481903251827651128918916605082f
#define M_LN2_F 0.693147180559945309417232121458176568f
#define M_LN10_F 2.30258509299404568401799145468436421f
#define M_PI_F 3.14159265358979323846264338327950288f
#define M_PI_2_F 1.57079632679489661923132169163975144f
#define M_PI_4_F 0.785398163397448309615660845819875721f
#define M_1_PI_F 0.318309886183790671537767526745028724f
#define M_2_PI_F 0.636619772367581343075535053490057448f
#define M_2_SQRTPI_F 1.12837916709551257389615890312154517f
#define M_SQRT2_F 1.41421356237309504880168872420969808f
#define M_SQRT1_2_F 0.707106781186547524400844362104849039f

#define MAXBFLOAT ((bfloat)0x1.fep127f)
#define HUGE_VALBF ((bfloat)__builtin_inff())

#define M_E_H ((half)M_E_F)
#define M_LOG2E_H ((half)M_LOG2E_F)
#define M_LOG10E_H ((half)M_LOG10E_F)
#define M_LN2_H ((half)M_LN2_F)
#define M_LN10_H ((half)M_LN10_F)
#define M_PI_H ((half)M_PI_F)
#define M_PI_2_H ((half)M_PI_2_F)
#define M_PI_4_H ((half)M_PI_4_F)
#define M_1_PI_H ((half)M_1_PI_F)
#define M_2_PI_H ((half)M_2_PI_F)
#define M_2_SQRTPI_H ((half)M_2_SQRTPI_F)
#define M_SQRT2_H ((half)M_SQRT2_F)
#define M_SQRT1_2_H ((half)M_SQRT1_2_F)

#define M_E_BF ((bfloat)M_E_F)
#define M_LOG2E_BF ((bfloat)M_LOG2E_F)
#define M_LOG10E_BF ((bfloat)M_LOG10E_F)
#define M_LN2_BF ((bfloat)M_LN2_F)
#define M_LN10_BF ((bfloat)M_LN10_F)
#define M_PI_BF ((bfloat)M_PI_F)
#define M_PI_2_BF ((bfloat)M_PI_2_F)
#define M_PI_4_BF ((bfloat)M_PI_4_F)
#define M_1_PI_BF ((bfloat)M_1_PI_F)
#define M_2_PI_BF ((bfloat)M_2_PI_F)
#define M_2_SQRTPI_BF ((bfloat)M_2_SQRTPI_F)
#define M_SQRT2_BF ((bfloat)M_SQRT2_F)
#define M_SQRT1_2_BF ((bfloat)M_SQRT1_2_F)
