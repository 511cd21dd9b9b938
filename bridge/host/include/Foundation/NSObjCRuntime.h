/* Base types and annotations of Foundation; clean-room, values as in Apple's public API. */
#ifndef FOUNDATION_NSOBJCRUNTIME_H
#define FOUNDATION_NSOBJCRUNTIME_H

#include <objc/objc.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* As on Apple's systems null pointers of any type: libobjc's are of type id and Class, which no
 * conditional expression mixes with a block. */
#undef nil
#undef Nil
#define nil NULL
#define Nil NULL

#ifdef __cplusplus
#define FOUNDATION_EXPORT extern "C"
#else
#define FOUNDATION_EXPORT extern
#endif

#define NS_ENUM(type, name)                                                                        \
    enum __attribute__((enum_extensibility(open))) name : type name;                               \
    enum name : type
#define NS_OPTIONS(type, name)                                                                     \
    enum __attribute__((flag_enum, enum_extensibility(open))) name : type name;                    \
    enum name : type
#define NS_ASSUME_NONNULL_BEGIN _Pragma("clang assume_nonnull begin")
#define NS_ASSUME_NONNULL_END _Pragma("clang assume_nonnull end")
#define NS_RETURNS_INNER_POINTER

typedef long NSInteger;
typedef unsigned long NSUInteger;
typedef double NSTimeInterval;
typedef double CFTimeInterval;
typedef struct _NSZone NSZone;

#endif
