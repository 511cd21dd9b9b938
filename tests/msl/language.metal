// What the rewriter does: literals, constants, templates, macros, threadgroup variables.
constant bool chosen [[function_constant(0)]];
constant int number [[function_constant(1)]];
constant float factor [[function_constant(2)]];
[[function_constant(0)]] constant bool leading;
constant int first [[function_constant(1)]], second [[function_constant(4)]];
constant int BASE = 3;
constant uint shifted [[function_constant(BASE + 1)]];
constant bool given = is_function_constant_defined(number);
constant int fallback = is_function_constant_defined(factor) ? 1 : 2;

kernel void function_constants(CHECKED) {
    CHECK(chosen && number == -3 && given && fallback == 2 && shifted == 7);
    int sized[number + 5] = {1, 2};
    CHECK(sizeof(sized) == 8);
    CHECK(leading && first == -3 && second == 7);
}

extern "C" kernel void c_linkage(CHECKED) {
    CHECK(number == -3);
}

kernel void literals(CHECKED) {
    CHECK(is_same_v<decltype(1.0), float> && is_same_v<decltype(1e3), float>);
    CHECK(is_same_v<decltype(1.5h), half> && is_same_v<decltype(16.h), half>);
    CHECK((is_same_v<decltype(0.5bf), bfloat>) && 1e-1h == half(0.1f) && 0x10 == 16 &&
          0x1bf == 447);
    CHECK(1.0 / 3 == 1.0f / 3 && .5 == 0.5f && 0x1p-1 == 0.5 && 1'000 == 1000 &&
          "a"
          "b"[0] != 0);
}

#define MAKE(NAME, TYPE)                                                                           \
    kernel void NAME(CHECKED, device TYPE *data [[buffer(1)]],                                     \
                     uint i [[thread_position_in_grid]]) {                                         \
        data[i] = TYPE(i) / 2;                                                                     \
    }
MAKE(made_by_macro, float)

template <typename T, int N = 4, typename = enable_if_t<(sizeof(T) < 8)>>
inline T fold(const thread T *values) {
    T sum = 0;
#pragma unroll(N)
    for (int i = 0; i < N; i++)
        sum += values[i];
    return sum;
}

template <typename T, int N, void (*STORE)(device T *, T)>
[[kernel, max_total_threads_per_threadgroup(N * 32)]] void
generic(CHECKED, device T *data [[buffer(1)]], uint i [[thread_position_in_grid]]) {
    T values[] = {T(1), T(2), T(3), T(4)};
    STORE(data + i, fold(values) * N);
}
template <typename T> void store(device T *to, T value) {
    *to = value;
}

template [[host_name(
    "generic_"
    "float")]] [[kernel]] decltype(generic<float, 2, store<float>>) generic<float, 2, store<float>>;
typedef decltype(generic < int, (3 > 2) ? 3 : 2, store < int >>) generic_t;
template [[host_name("generic_int")]] kernel generic_t generic<int, (3 > 2) ? 3 : 2, store<int>>;
template [[host_name("generic_half")]] kernel void
generic<half, 1, store<half>>(device atomic_uint *failed [[buffer(0)]],
                              device half *data [[buffer(1)]], uint i [[thread_position_in_grid]]);

[[host_name("renamed")]] kernel void original(CHECKED) {
    CHECK(true);
}

namespace inner {
constant constexpr int SIZE = 8;
kernel void nested(CHECKED) {
    int values[SIZE];
    CHECK(sizeof(values) == 32);
}
}  // namespace inner

struct Header {
    ulong length;
    ushort3 shape;
    packed_float3 origin;
    bool flag;
};
static_assert(sizeof(Header) == 32, "laid out as in C");

struct Scratch {
    float values[32];
    half scale;
    Scratch() = default;
};

[[kernel, max_total_threads_per_threadgroup(32)]] void
memory(CHECKED, threadgroup float *dynamic [[threadgroup(0)]],
       threadgroup half4 *more [[threadgroup(1)]], uint i [[thread_index_in_threadgroup]],
       uint n [[threads_per_threadgroup]]) {
    threadgroup float sums[64];
    threadgroup Scratch scratch;
    threadgroup array<uint, 32> flags;
    threadgroup int counter, other[2];
    threadgroup float *alias = sums;
    threadgroup Scratch &reference = scratch;
    if (i == 0) counter = 5, other[1] = 6;
    sums[i] = float(i);
    reference.values[i] = dynamic[i] = float(n - i);
    flags[i] = i;
    more[i] = half4(half(i));
    threadgroup_barrier(mem_flags::mem_threadgroup);
    const uint next = (i + 1) % n;
    CHECK(alias[next] == next && scratch.values[next] == n - next && dynamic[next] == n - next);
    CHECK(counter == 5 && other[1] == 6 && flags[next] == next && more[next].w == next);
    if (i > 3) return;
    CHECK(simd_sum(1u) == min(4u, n));
}

kernel void positions(
    CHECKED, constant uint &expected_threads [[buffer(1)]], uint3 grid [[thread_position_in_grid]],
    uint3 group [[threadgroup_position_in_grid]], ushort3 local [[thread_position_in_threadgroup]],
    uint3 size [[threads_per_threadgroup]], uint3 threads [[threads_per_grid]],
    uint3 groups [[threadgroups_per_grid]], uint index [[thread_index_in_threadgroup]],
    ushort lane [[thread_index_in_simdgroup]], ushort simdgroup [[simdgroup_index_in_threadgroup]],
    uint simdgroups [[simdgroups_per_threadgroup]], uint width [[threads_per_simdgroup]],
    uint quad [[quadgroup_index_in_threadgroup]], uint quad_lane [[thread_index_in_quadgroup]],
    ushort quads [[dispatch_quadgroups_per_threadgroup]]) {
    CHECK(quads == (size.x * size.y * size.z + 3) / 4);
    CHECK(all(grid == group * size + uint3(local)) && all(threads == size * groups));
    CHECK(index == local.x + size.x * (local.y + size.y * local.z) &&
          index == simdgroup * width + lane);
    CHECK(quad * 4 + quad_lane == index && width == 32 && threads.x == expected_threads);
    CHECK(simdgroups == (size.x * size.y * size.z + 31) / 32);
}

// Parameters without attributes take the free indices, in order; arrays are pointers.
kernel void unmarked(CHECKED, constant uint numbers[2], device uint *third [[buffer(2)]],
                     device uint *fourth,
                     constant bool &absent [[buffer(9), function_constant(chosen)]]) {
    CHECK(numbers[1] == 11 && third[0] == 20 && fourth[0] == 30 && absent);
}

// What the running thread is, at program scope; a parameter of the same name hides it.
namespace running {
const uint3 position [[thread_position_in_grid]];
const ushort index [[thread_index_in_threadgroup]];
uint twice() {
    return position.x * 2 + uint(index == 1);
}
}  // namespace running
const uint lane [[thread_index_in_simdgroup]];

kernel void values_at_program_scope(CHECKED, uint i [[thread_position_in_grid]]) {
    CHECK(running::twice() == 2 * i + (i == 1) && lane == i % 32);
    threadgroup_barrier(mem_flags::mem_none);
    CHECK(running::position.x == i && min(lane, 40u) == i % 32);
}

kernel void hidden_value(CHECKED, uint lane [[threads_per_simdgroup]], uint2 origin [[grid_origin]],
                         uint size [[grid_size]], uint threads [[threads_per_grid]]) {
    CHECK(lane == 32 && all(origin == 0) && size == threads);
}
