// What the shaders use of <metal_stdlib>, for NVRTC: a warp stands for a SIMD-group. It is included
// inside namespace msl, whose names hide CUDA's own of vectors, min and max.

using uchar = unsigned char;
using ushort = unsigned short;
using uint = unsigned int;
using ulong = unsigned long;
using half = __half;
using bfloat = __nv_bfloat16;

#define METAL_FUNC inline

constexpr float FLT_MAX = 3.402823466e38f;
#define INFINITY __int_as_float(0x7f800000)

// ---- vectors ----

template <typename T> struct alignas(2 * sizeof(T)) vec2 {
    T x, y;
    vec2() = default;
    vec2(T all) : x(all), y(all) {}
    vec2(T x, T y) : x(x), y(y) {}
    template <typename U> explicit vec2(const vec2<U> &other) : x(T(other.x)), y(T(other.y)) {}
};

template <typename T> struct alignas(4 * sizeof(T)) vec4 {
    T x, y, z, w;
    vec4() = default;
    vec4(T all) : x(all), y(all), z(all), w(all) {}
    vec4(T x, T y, T z, T w) : x(x), y(y), z(z), w(w) {}
    vec4(vec2<T> low, T z, T w) : x(low.x), y(low.y), z(z), w(w) {}
    template <typename U>
    explicit vec4(const vec4<U> &other)
        : x(T(other.x)), y(T(other.y)), z(T(other.z)), w(T(other.w)) {}
    T &operator[](uint i) { return (&x)[i]; }
    T operator[](uint i) const { return (&x)[i]; }
};

using float2 = vec2<float>;
using float4 = vec4<float>;
using half2 = vec2<half>;
using half4 = vec4<half>;
using bool4 = vec4<bool>;

struct uint3 {
    uint x, y, z;
    uint3(::uint3 other) : x(other.x), y(other.y), z(other.z) {}
    uint3(dim3 other) : x(other.x), y(other.y), z(other.z) {}
};

// A scalar beside a vector becomes one.
inline float2 operator+(float2 a, float2 b) {
    return float2(a.x + b.x, a.y + b.y);
}
inline float2 operator-(float2 a, float2 b) {
    return float2(a.x - b.x, a.y - b.y);
}
inline float2 &operator+=(float2 &a, float2 b) {
    return a = a + b;
}
inline float4 operator+(float4 a, float4 b) {
    return float4(a.x + b.x, a.y + b.y, a.z + b.z, a.w + b.w);
}
inline float4 operator-(float4 a, float4 b) {
    return float4(a.x - b.x, a.y - b.y, a.z - b.z, a.w - b.w);
}
inline float4 operator*(float4 a, float4 b) {
    return float4(a.x * b.x, a.y * b.y, a.z * b.z, a.w * b.w);
}
inline float4 operator/(float4 a, float4 b) {
    return float4(a.x / b.x, a.y / b.y, a.z / b.z, a.w / b.w);
}
inline float4 &operator+=(float4 &a, float4 b) {
    return a = a + b;
}
inline float4 &operator*=(float4 &a, float4 b) {
    return a = a * b;
}
inline bool4 operator>(float4 a, float4 b) {
    return bool4(a.x > b.x, a.y > b.y, a.z > b.z, a.w > b.w);
}

// ---- functions ----

template <typename T> T min(T a, T b) {
    return b < a ? b : a;
}
template <typename T> T max(T a, T b) {
    return a < b ? b : a;
}
inline float max(float a, float b) {
    return fmaxf(a, b);
}
inline float4 max(float4 a, float4 b) {
    return float4(max(a.x, b.x), max(a.y, b.y), max(a.z, b.z), max(a.w, b.w));
}

inline float exp(float x) {
    return expf(x);
}
inline float2 exp(float2 x) {
    return float2(expf(x.x), expf(x.y));
}

inline float4 exp(float4 x) {
    return float4(expf(x.x), expf(x.y), expf(x.z), expf(x.w));
}

inline bool any(bool4 x) {
    return x.x || x.y || x.z || x.w;
}
inline float4 select(float4 a, float4 b, bool4 takes_b) {
    return float4(takes_b.x ? b.x : a.x, takes_b.y ? b.y : a.y, takes_b.z ? b.z : a.z,
                  takes_b.w ? b.w : a.w);
}

template <typename T> T as_type(uint bits);
template <> inline float as_type<float>(uint bits) {
    return __uint_as_float(bits);
}

// ---- threads ----

constexpr uint ALL_LANES = 0xffffffff;

inline uint linear_thread_index() {
    return threadIdx.x + blockDim.x * (threadIdx.y + blockDim.y * threadIdx.z);
}

// Every lane takes part: in divergent code these are undefined here and defined in Metal.
inline float simd_sum(float value) {
    for (int step = 16; step > 0; step /= 2)
        value += __shfl_xor_sync(ALL_LANES, value, step);
    return value;
}
inline float simd_max(float value) {
    for (int step = 16; step > 0; step /= 2)
        value = max(value, __shfl_xor_sync(ALL_LANES, value, step));
    return value;
}
inline float4 simd_sum(float4 x) {
    return float4(simd_sum(x.x), simd_sum(x.y), simd_sum(x.z), simd_sum(x.w));
}
inline float4 simd_max(float4 x) {
    return float4(simd_max(x.x), simd_max(x.y), simd_max(x.z), simd_max(x.w));
}
inline bool simd_all(bool value) {
    return __all_sync(ALL_LANES, value);
}

enum class mem_flags { mem_none, mem_device, mem_threadgroup };
inline void threadgroup_barrier(mem_flags) {
    __syncthreads();
}
inline void simdgroup_barrier(mem_flags) {
    __syncwarp();
}

enum memory_order { memory_order_relaxed };
struct atomic_int {
    int value;
};
inline void atomic_store_explicit(atomic_int *object, int value, memory_order) {
    atomicExch(&object->value, value);
}
inline int atomic_load_explicit(atomic_int *object, memory_order) {
    return atomicOr(&object->value, 0);
}
