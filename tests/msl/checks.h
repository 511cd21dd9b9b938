// Kernels that check themselves: each writes, at index 0, the source line of a check that failed.
#include <metal_stdlib>
using namespace metal;

#define CHECK(...)                                                                                 \
    if (!(__VA_ARGS__)) atomic_store_explicit(failed, __LINE__, memory_order_relaxed)
#define NEAR(A, B, TOLERANCE) CHECK(fabs(float((A) - (B))) <= (TOLERANCE))
#define CHECKED device atomic_uint *failed [[buffer(0)]]
