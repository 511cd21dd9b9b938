// <simd/simd.h>: the names under which hosts and kernels share vectors and matrices.
#pragma once

#define MSL_SHARED(T, NAME)                                                                        \
    typedef T simd_##NAME##1;                                                                      \
    typedef T##2 simd_##NAME##2;                                                                   \
    typedef T##3 simd_##NAME##3;                                                                   \
    typedef T##4 simd_##NAME##4;                                                                   \
    typedef T vector_##NAME##1;                                                                    \
    typedef T##2 vector_##NAME##2;                                                                 \
    typedef T##3 vector_##NAME##3;                                                                 \
    typedef T##4 vector_##NAME##4;
MSL_SHARED(char, char)
MSL_SHARED(uchar, uchar)
MSL_SHARED(short, short)
MSL_SHARED(ushort, ushort)
MSL_SHARED(int, int)
MSL_SHARED(uint, uint)
MSL_SHARED(long, long)
MSL_SHARED(ulong, ulong)
MSL_SHARED(half, half)
MSL_SHARED(float, float)
#undef MSL_SHARED

#define MSL_SHARED(T, SHAPE)                                                                       \
    typedef T##SHAPE simd_##T##SHAPE;                                                              \
    typedef T##SHAPE matrix_##T##SHAPE;
#define MSL_SHAPES(T)                                                                              \
    MSL_SHARED(T, 2x2)                                                                             \
    MSL_SHARED(T, 2x3)                                                                             \
    MSL_SHARED(T, 2x4)                                                                             \
    MSL_SHARED(T, 3x2)                                                                             \
    MSL_SHARED(T, 3x3)                                                                             \
    MSL_SHARED(T, 3x4)                                                                             \
    MSL_SHARED(T, 4x2)                                                                             \
    MSL_SHARED(T, 4x3)                                                                             \
    MSL_SHARED(T, 4x4)
MSL_SHAPES(half)
MSL_SHAPES(float)
#undef MSL_SHAPES
#undef MSL_SHARED
