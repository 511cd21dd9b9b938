// <metal_type_traits>
#pragma once

namespace metal {

template <class T, T V> struct integral_constant {
    static constexpr T value = V;
    using value_type = T;
    using type = integral_constant;
    constexpr operator T() const { return V; }
    constexpr T operator()() const { return V; }
};
template <bool B> using bool_constant = integral_constant<bool, B>;
using true_type = bool_constant<true>;
using false_type = bool_constant<false>;

template <bool B, class T = void> struct enable_if {};
template <class T> struct enable_if<true, T> {
    using type = T;
};
template <bool B, class T = void> using enable_if_t = typename enable_if<B, T>::type;

template <bool B, class T, class F> struct conditional {
    using type = T;
};
template <class T, class F> struct conditional<false, T, F> {
    using type = F;
};
template <bool B, class T, class F> using conditional_t = typename conditional<B, T, F>::type;

template <class T> struct remove_const {
    using type = T;
};
template <class T> struct remove_const<const T> {
    using type = T;
};
template <class T> struct remove_volatile {
    using type = T;
};
template <class T> struct remove_volatile<volatile T> {
    using type = T;
};
template <class T> struct remove_cv : remove_const<typename remove_volatile<T>::type> {};
template <class T> struct remove_reference {
    using type = T;
};
template <class T> struct remove_reference<T &> {
    using type = T;
};
template <class T> struct remove_reference<T &&> {
    using type = T;
};
template <class T> struct remove_pointer {
    using type = T;
};
template <class T> struct remove_pointer<T *> {
    using type = T;
};
template <class T> struct remove_pointer<T *const> {
    using type = T;
};
template <class T> struct remove_extent {
    using type = T;
};
template <class T, __SIZE_TYPE__ N> struct remove_extent<T[N]> {
    using type = T;
};
template <class T> struct remove_extent<T[]> {
    using type = T;
};
// Address spaces are erased before this is read.
template <class T> struct remove_addrspace {
    using type = T;
};
template <class T> struct add_const {
    using type = const T;
};
template <class T> struct add_pointer {
    using type = typename remove_reference<T>::type *;
};
template <class T> struct add_lvalue_reference {
    using type = T &;
};
template <class T> struct add_rvalue_reference {
    using type = T &&;
};
template <class T> using remove_const_t = typename remove_const<T>::type;
template <class T> using remove_volatile_t = typename remove_volatile<T>::type;
template <class T> using remove_cv_t = typename remove_cv<T>::type;
template <class T> using remove_reference_t = typename remove_reference<T>::type;
template <class T> using remove_pointer_t = typename remove_pointer<T>::type;
template <class T> using remove_extent_t = typename remove_extent<T>::type;
template <class T> using remove_addrspace_t = typename remove_addrspace<T>::type;
template <class T> using add_const_t = typename add_const<T>::type;
template <class T> using add_pointer_t = typename add_pointer<T>::type;

template <class T> struct make_unsigned {
    using type = __make_unsigned(T);
};
template <class T> struct make_signed {
    using type = __make_signed(T);
};
template <class T> using make_unsigned_t = typename make_unsigned<T>::type;
template <class T> using make_signed_t = typename make_signed<T>::type;
template <class T> struct underlying_type {
    using type = __underlying_type(T);
};
template <class T> using underlying_type_t = typename underlying_type<T>::type;

template <class T> typename add_rvalue_reference<T>::type declval();

template <class A, class B> struct is_same : false_type {};
template <class A> struct is_same<A, A> : true_type {};
template <class... T> struct disjunction : bool_constant<(bool(T::value) || ...)> {};
template <class... T> struct conjunction : bool_constant<(bool(T::value) && ...)> {};
// Their names inside Apple's library, but used.
template <class... T> using _disjunction = disjunction<T...>;
template <class... T> using _conjunction = conjunction<T...>;
template <class T> struct is_void : is_same<void, remove_cv_t<T>> {};
template <class T> struct is_integral : bool_constant<__is_integral(T)> {};
template <class T> struct is_floating_point : bool_constant<__is_floating_point(T)> {};
template <> struct is_floating_point<_Float16> : true_type {};
template <class T>
struct is_arithmetic : bool_constant<is_integral<T>::value || is_floating_point<T>::value> {};
template <class T> struct is_scalar : bool_constant<__is_scalar(T)> {};
template <class T>
struct is_signed : bool_constant<__is_signed(T) || is_floating_point<T>::value> {};
template <class T> struct is_unsigned : bool_constant<__is_unsigned(T)> {};
template <class T> struct is_const : bool_constant<__is_const(T)> {};
template <class T> struct is_volatile : bool_constant<__is_volatile(T)> {};
template <class T> struct is_pointer : bool_constant<__is_pointer(T)> {};
template <class T> struct is_reference : bool_constant<__is_reference(T)> {};
template <class T> struct is_lvalue_reference : bool_constant<__is_lvalue_reference(T)> {};
template <class T> struct is_rvalue_reference : bool_constant<__is_rvalue_reference(T)> {};
template <class T> struct is_array : bool_constant<__is_array(T)> {};
template <class T> struct is_enum : bool_constant<__is_enum(T)> {};
template <class T> struct is_union : bool_constant<__is_union(T)> {};
template <class T> struct is_class : bool_constant<__is_class(T)> {};
template <class T> struct is_function : bool_constant<__is_function(T)> {};
template <class T> struct is_trivially_copyable : bool_constant<__is_trivially_copyable(T)> {};
template <class A, class B> struct is_convertible : bool_constant<__is_convertible(A, B)> {};
template <class A, class B> struct is_base_of : bool_constant<__is_base_of(A, B)> {};
template <class T, class... A>
struct is_constructible : bool_constant<__is_constructible(T, A...)> {};
template <class A, class B> struct is_assignable : bool_constant<__is_assignable(A, B)> {};

template <class A, class B> inline constexpr bool is_same_v = is_same<A, B>::value;
template <class... T> inline constexpr bool disjunction_v = disjunction<T...>::value;
template <class... T> inline constexpr bool conjunction_v = conjunction<T...>::value;
template <class T> inline constexpr bool is_void_v = is_void<T>::value;
template <class T> inline constexpr bool is_integral_v = is_integral<T>::value;
template <class T> inline constexpr bool is_floating_point_v = is_floating_point<T>::value;
template <class T> inline constexpr bool is_arithmetic_v = is_arithmetic<T>::value;
template <class T> inline constexpr bool is_scalar_v = is_scalar<T>::value;
template <class T> inline constexpr bool is_signed_v = is_signed<T>::value;
template <class T> inline constexpr bool is_unsigned_v = is_unsigned<T>::value;
template <class T> inline constexpr bool is_const_v = is_const<T>::value;
template <class T> inline constexpr bool is_volatile_v = is_volatile<T>::value;
template <class T> inline constexpr bool is_pointer_v = is_pointer<T>::value;
template <class T> inline constexpr bool is_reference_v = is_reference<T>::value;
template <class T> inline constexpr bool is_array_v = is_array<T>::value;
template <class T> inline constexpr bool is_enum_v = is_enum<T>::value;
template <class T> inline constexpr bool is_union_v = is_union<T>::value;
template <class T> inline constexpr bool is_class_v = is_class<T>::value;
template <class T> inline constexpr bool is_function_v = is_function<T>::value;
template <class T> inline constexpr bool is_trivially_copyable_v = is_trivially_copyable<T>::value;
template <class A, class B> inline constexpr bool is_assignable_v = is_assignable<A, B>::value;
template <class A, class B> inline constexpr bool is_convertible_v = is_convertible<A, B>::value;
template <class A, class B> inline constexpr bool is_base_of_v = is_base_of<A, B>::value;
template <class T, class... A>
inline constexpr bool is_constructible_v = is_constructible<T, A...>::value;

}  // namespace metal

namespace __msl {

// Of single values alone, where Metal's own hold for vectors too.
template <class T> inline constexpr bool is_integer = __is_integral(T);
template <class T> inline constexpr bool is_number = metal::is_arithmetic_v<T>;

}  // namespace __msl
