// Address spaces: overloads that differ in them alone, and everything that they qualify.
template <typename T> struct Sum {
    METAL_FUNC T operator()(thread const T &a, thread const T &b) const { return a + b; }
    METAL_FUNC T operator()(threadgroup const T &x, threadgroup const T &y) const { return x + y; }
    METAL_FUNC T operator()(const device T &x, const device T &y) const { return x + y; }
    METAL_FUNC T operator()(constant T &x, constant T &y) const { return x + y; }
};

struct Complex {
    float re, im;
    Complex() thread : re(0), im{0} {}
    Complex() threadgroup : re(0), im{0} {}
    template <typename T, typename = enable_if_t<is_arithmetic_v<T>>>
    Complex(T x) thread : re(x), im(0) {}
    template <typename T, typename = enable_if_t<is_arithmetic_v<T>>>
    Complex(T x) constant : re(x), im(0) {}
    Complex(float x, float y) : re(x), im(y) {}
    operator float() const thread { return re; }
    operator float() const device { return re; }
    operator float() const constant { return re; }
    float part() thread { return re; }
    float part() const device { return im; }
    thread Complex &operator+=(thread const Complex &other) {
        re += other.re, im += other.im;
        return *this;
    }
    device Complex &operator+=(device const Complex &other) device {
        re += other.re, im += other.im;
        return *this;
    }
};
Complex operator*(Complex a, Complex b) {
    return Complex(a.re * b.re - a.im * b.im, a.re * b.im + a.im * b.re);
}

template <typename T> struct pointed {
    using type = void;
};
template <typename T> struct pointed<device T *> {
    using type = T;
};
template <typename T> struct pointed<threadgroup T *> {
    using type = T;
};

METAL_FUNC float second(device float *x) {
    return x[1];
}
METAL_FUNC float second(threadgroup float *y) {
    return y[1];
}
METAL_FUNC float second(const thread float *y) {
    return y[1] + 10;
}
METAL_FUNC float second(device float *x, int n) {
    return x[n + 1];
}
namespace nested {
inline int load(const device int *p) {
    return *p;
}
inline int load(const constant int *p) {
    return *p;
}
}  // namespace nested

kernel void operators_by_space(CHECKED) {
    Sum<int> sum;
    threadgroup int shared[2];
    shared[0] = 3, shared[1] = 4;
    int own[2] = {1, 2};
    CHECK(sum(own[0], own[1]) == 3 && sum(shared[0], shared[1]) == 7);
}

kernel void constructors_by_space(CHECKED) {
    Complex a, b(2), c(1, 2);
    CHECK(a.re == 0 && b.re == 2 && b.im == 0 && c.im == 2);
    threadgroup Complex shared[2];
    shared[1] = c;
    CHECK(shared[1].im == 2);
}

kernel void conversions_by_space(CHECKED) {
    Complex a(3);
    CHECK(float(a) == 3 && a.part() == 3);
    a += a;
    CHECK((a * Complex(0, 1)).im == 6);
}

kernel void functions_by_space(CHECKED) {
    threadgroup float shared[2];
    shared[1] = 5;
    CHECK(second(shared) == 5);
    const float own[2] = {1, 2};
    CHECK(second(own) == 12);
}

kernel void functions_that_stay_apart(CHECKED, device float *data [[buffer(1)]]) {
    data[2] = 9;
    CHECK(second(data, 1) == 9);
}

kernel void specialisations_by_space(CHECKED) {
    static_assert(is_same_v<pointed<device int *>::type, int>, "device");
    static_assert(is_same_v<pointed<threadgroup half *>::type, half>, "threadgroup");
    static_assert(is_same_v<pointed<int>::type, void>, "none");
    CHECK(true);
}

constant int FOUR = 4;
kernel void functions_in_namespaces(CHECKED) {
    CHECK(nested::load(&FOUR) == 4);
}

kernel void qualifier_behind_the_type(CHECKED, uint device *data [[buffer(1)]]) {
    uint const device *same = data;
    data[0] = 3;
    CHECK(same[0] == 3);
}

kernel void qualifier_in_casts(CHECKED, device uchar *bytes [[buffer(1)]]) {
    *(device ushort *)(bytes + 2) = 0x0201;
    CHECK(bytes[2] == 1 && bytes[3] == 2);
    CHECK(*reinterpret_cast<device const ushort *>(bytes + 2) == 513);
    CHECK(*(const device ushort *)(bytes + 2) == 513 && *((device ushort *)bytes + 1) == 513);
}

kernel void references_to_pointers(CHECKED, device uint *data [[buffer(1)]]) {
    data[0] = 1, data[1] = 2;
    device uint *cursor = data;
    device uint *&alias = cursor;
    alias++;
    CHECK(*cursor == 2);
}

struct Cursor {
    device uint *at;
    threadgroup uint *shared;
    thread uint *own;
};
kernel void pointers_in_structs(CHECKED, device uint *data [[buffer(1)]]) {
    threadgroup uint cell[1];
    uint own = 3;
    Cursor cursor = {data, cell, &own};
    *cursor.at = 1, *cursor.shared = 2, *cursor.own += 1;
    CHECK(*data == 1 && cell[0] == 2 && own == 4);
}

kernel void threadgroup_bytes_as_any_type(CHECKED) {
    threadgroup char memory[64];
    threadgroup half *halves = (threadgroup half *)memory;
    threadgroup float4 *vectors = (threadgroup float4 *)(memory + 16);
    halves[1] = 2.5h;
    *vectors = float4(1, 2, 3, 4);
    CHECK(halves[1] == 2.5h && ((threadgroup float *)memory)[6] == 3);
}

kernel void threadgroup_arrays_of_arrays(CHECKED) {
    threadgroup float tile[4][8 + 1];
    threadgroup float(*row)[9] = tile + 1;
    tile[1][8] = 7;
    CHECK((*row)[8] == 7 && sizeof(tile) == 144);
}

template <int N> METAL_FUNC float sum_of(threadgroup const float (&values)[N]) {
    float sum = 0;
    for (int i = 0; i < N; i++)
        sum += values[i];
    return sum;
}
kernel void references_to_threadgroup_arrays(CHECKED) {
    threadgroup float values[3];
    for (int i = 0; i < 3; i++)
        values[i] = i + 1;
    CHECK(sum_of(values) == 6);
}

kernel void initialised_threadgroup_arrays(CHECKED, uint i [[thread_index_in_threadgroup]],
                                           uint n [[threads_per_threadgroup]]) {
    threadgroup uint counts[4] = {0};
    threadgroup half small[2] = {0.5h, 1.5};
    threadgroup_barrier(mem_flags::mem_threadgroup);
    if (i == 0) counts[1]++;
    threadgroup_barrier(mem_flags::mem_threadgroup);
    CHECK(counts[0] == 0 && counts[1] == 1 && counts[3] == 0 && small[0] + small[1] == 2);
}

kernel void initialised_threadgroup_values(CHECKED) {
    threadgroup int one = 1, table[3] = {2, 3, 4}, none = {};
    threadgroup array<float, 2> pair = {{5, 6}};
    CHECK(one == 1 && table[2] == 4 && none == 0 && pair[1] == 6);
}

constant uint PRIMES[] = {2, 3, 5, 7};
constant constexpr float SCALES[2] = {0.5, 2};
constant struct {
    uint a;
    float b;
} NAMED = {4, 1.5};
kernel void constant_tables(CHECKED, uint i [[thread_index_in_threadgroup]]) {
    constant uint *prime = PRIMES + i % 4;
    CHECK(*prime == (i % 4 == 0 ? 2 : 2 * (i % 4) + 1));
    CHECK(SCALES[i % 2] * SCALES[1 - i % 2] == 1 && NAMED.a == 4 && NAMED.b == 1.5f);
}

constant int WIDTH = 4;
constant int AREA = WIDTH * WIDTH;
template <int N> struct Sized {
    int values[N];
};
kernel void constants_as_bounds(CHECKED) {
    Sized<AREA> sized;
    threadgroup int shared[WIDTH][WIDTH];
    CHECK(sizeof(sized) == 64 && sizeof(shared) == 64);
    switch (sized.values[0] = 16) {
    case AREA:
        break;
    default:
        CHECK(false);
    }
}

struct Rows {
    uint counts[3];
    float2 scale;
};
float scaled(constant Rows &rows, uint i) {
    return rows.counts[i] * rows.scale.y;
}
kernel void structs_by_reference(CHECKED, constant Rows &rows [[buffer(1)]]) {
    constant Rows *same = &rows;
    CHECK(scaled(rows, 1) == 0 && scaled(*same, 1) == 0);
}

kernel void volatile_memory(CHECKED, volatile coherent(system) device uint *data [[buffer(1)]]) {
    volatile coherent(system) device uint *same = data;
    data[0] = 5;
    same[1] = data[0] + 1;
    CHECK(data[1] == 6);
}

struct Shared {
    float4 sum;
    half3 scale;
};
kernel void volatile_vectors(CHECKED, volatile device Shared &shared [[buffer(1)]],
                             uint i [[thread_position_in_grid]]) {
    if (i > 0) return;
    volatile device float4 *sums = &shared.sum;
    shared.sum = float4(1, 2, 3, 4);
    sums[0] += float4(1);
    shared.scale = half3(2);
    const float4 read = shared.sum;
    CHECK(all(read == float4(2, 3, 4, 5)) && shared.scale.y == 2 && sums->z == 4);
    shared.sum[3] = 9;
    CHECK(shared.sum[3] == 9 && shared.sum.w == 9);
    const float4 twice = shared.sum * 2, sum = sums[0] + shared.sum, rest = 9 - shared.sum;
    CHECK(all(twice == sum) && all(rest == float4(7, 6, 5, 0)) && all(-shared.sum == rest - 9));
    CHECK(all(shared.sum == sums[0]) && !any(shared.sum < float4(2, 3, 4, 9)));
}

// Values that contain an array, as translators from other languages write them.
template <typename T, size_t Count> struct Row {
    T items[Count ? Count : 1];

    thread T &operator[](size_t at) thread { return items[at]; }
    constexpr const thread T &operator[](size_t at) const thread { return items[at]; }
    device T &operator[](size_t at) device { return items[at]; }
    constexpr const device T &operator[](size_t at) const device { return items[at]; }
    constexpr const constant T &operator[](size_t at) const constant { return items[at]; }
    constant T const &last() const constant { return items[Count - 1]; }
    thread T const &last() const thread { return items[Count - 1]; }
    threadgroup T &operator[](size_t at) threadgroup { return items[at]; }
    constexpr const threadgroup T &operator[](size_t at) const threadgroup { return items[at]; }
};
constant Row<float, 3> ROW = {{1, 2, 3}};
kernel void rows_in_any_space(CHECKED) {
    threadgroup Row<float, 3> shared;
    Row<float, 3> own = {4, 5, 6};
    own[1] = ROW[1];
    shared[2] = own[1];
    CHECK(own[1] == 2 && shared[2] == 2 && own.last() == 6 && ROW.last() == 3);
}

// A threadgroup variable is one wherever its declaration names the address space. Each is written
// by the first thread alone and read by all.
typedef threadgroup uint shared_uint;
using shared_row = threadgroup array<uint, 4>;
kernel void threadgroup_variables(CHECKED, uint i [[thread_index_in_threadgroup]]) {
    alignas(16) threadgroup uint before[4];
    threadgroup alignas(16) uint behind[4];
    threadgroup uint later alignas(16)[4];
    __attribute__((aligned(16))) threadgroup uint attribute[4];
    [[maybe_unused]] threadgroup uint standard[4];
    uint threadgroup east[4];
    vec<uint, 4> threadgroup vectors[4];
    uint volatile threadgroup changing[4];
    static threadgroup uint fixed[4];
    device uint *threadgroup pointer;
    shared_uint named[4], last;
    shared_row row;
    if (i == 0) {
        before[3] = behind[3] = later[3] = attribute[3] = standard[3] = east[3] = 7;
        fixed[3] = named[3] = last = row[3] = changing[3] = 7;
        vectors[3] = 7;
        pointer = (device uint *)failed;
    }
    threadgroup_barrier(mem_flags::mem_threadgroup);
    CHECK(before[3] == 7 && behind[3] == 7 && later[3] == 7 && attribute[3] == 7);
    CHECK(standard[3] == 7 && east[3] == 7 && fixed[3] == 7 && vectors[3].y == 7);
    CHECK(named[3] == 7 && last == 7 && row[3] == 7 && changing[3] == 7 &&
          pointer == (device uint *)failed);
    CHECK((ulong)&before % 16 == 0 && (ulong)&behind % 16 == 0 && (ulong)&later % 16 == 0);
}
