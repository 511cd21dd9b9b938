// Products of tensors by kernels compiled for each level of CPU that this one runs: each packs and
// multiplies in its own way, and converts half where the CPU does not.
#include "msl_request.h"

#include "compiler.h"
#include "cpu_level.h"
#include "failure.h"
#include "library.h"
#include "simt.h"

#include <cmath>

static const std::string SOURCE = R"(
#include <metal_stdlib>
#include <metal_tensor>
#include <MetalPerformancePrimitives/MetalPerformancePrimitives.h>
using namespace metal;
using namespace mpp::tensor_ops;

template <class T>
kernel void convert(device const char *from [[buffer(0)]], device T *to [[buffer(1)]],
                    uint i [[thread_position_in_grid]]) {
    to[i] = T(from[i]);
}
template <class T>
kernel void widen(device const T *from [[buffer(0)]], device float *to [[buffer(1)]],
                  uint i [[thread_position_in_grid]]) {
    to[i] = float(from[i]);
}
// `right` lies by columns, `left` by rows.
template <class T, class Result>
kernel void multiply(device T *left [[buffer(0)]], device T *right [[buffer(1)]],
                     device Result *result [[buffer(2)]]) {
    constexpr matmul2d_descriptor descriptor(48, 40, int(dynamic_extent), false, true);
    matmul2d<descriptor, execution_simdgroups<2>> product;
    auto a = tensor(left, dextents<int, 2>(DEPTH, ROWS));
    auto b = tensor(right, dextents<int, 2>(DEPTH, COLUMNS));
    auto c = tensor(result, dextents<int, 2>(COLUMNS, ROWS));
    product.run(a, b, c);
}
#define INSTANTIATE(T, RESULT)                                                                     \
    template [[host_name("convert")]] kernel decltype(convert<T>) convert<T>;                      \
    template [[host_name("widen")]] kernel decltype(widen<RESULT>) widen<RESULT>;                  \
    template [[host_name("multiply")]] kernel decltype(multiply<T, RESULT>) multiply<T, RESULT>;
INSTANTIATE(INPUT, RESULT)
)";

static constexpr int ROWS = 37, COLUMNS = 29, DEPTH = 150, THREADS = 64;

struct Types {
    const char *input, *result;
    int significand;  // bits of the result's
};
static constexpr Types TYPES[] = {
    {"half", "float", 24},  {"half", "half", 11}, {"bfloat", "bfloat", 8}, {"bfloat", "float", 24},
    {"float", "float", 24}, {"char", "int", 31},  {"uchar", "float", 24}};

static void run(simt_pool *pool, const msl_library *library, const char *kernel,
                std::initializer_list<void *> buffers, uint32_t threads) {
    simt_launch launch = {};
    launch.library = library;
    launch.kernel = msl_library_find(library, kernel);
    CHECK(launch.kernel);
    std::copy(buffers.begin(), buffers.end(), launch.buffers);
    for (int axis = 0; axis < 3; axis++)
        launch.threads[axis] = launch.threads_per_threadgroup[axis] = 1;
    launch.threads[0] = threads;
    launch.threads_per_threadgroup[0] = THREADS;
    simt_fault fault = {};
    if (simt_run(pool, &launch, &fault) == SIMT_FAULT_NONE) return;
    std::fprintf(stderr, "%s\n", fault.message);
    std::exit(1);
}

// To nearest, ties to even.
static double rounded(double value, int significand) {
    if (value == 0) return 0;
    const double unit = std::ldexp(1.0, std::ilogb(value) + 1 - significand);
    return std::nearbyint(value / unit) * unit;
}

static void check_products(simt_pool *pool, const msl_library *library, const Types &types,
                           const std::string &level) {
    std::vector<signed char> left(ROWS * DEPTH), right(COLUMNS * DEPTH);
    const int least = types.input[0] == 'u' ? 0 : -9;
    for (size_t i = 0; i < left.size(); i++)
        left[i] = static_cast<signed char>(least + int(i * 7 + i / 11) % 19);
    for (size_t i = 0; i < right.size(); i++)
        right[i] = static_cast<signed char>(least + int(i * 5 + i / 13) % 17);
    std::vector<float> a(left.size()), b(right.size()), c(ROWS * COLUMNS), result(c.size());
    run(pool, library, "convert", {left.data(), a.data()}, uint32_t(left.size()));
    run(pool, library, "convert", {right.data(), b.data()}, uint32_t(right.size()));
    run(pool, library, "multiply", {a.data(), b.data(), c.data()}, THREADS);
    run(pool, library, "widen", {c.data(), result.data()}, uint32_t(result.size()));
    for (int row = 0; row < ROWS; row++) {
        for (int column = 0; column < COLUMNS; column++) {
            double sum = 0;
            for (int k = 0; k < DEPTH; k++)
                sum += left[size_t(row * DEPTH + k)] * right[size_t(column * DEPTH + k)];
            const double expected = rounded(sum, types.significand);
            const double actual = result[size_t(row * COLUMNS + column)];
            if (actual == expected) continue;
            std::fprintf(stderr, "%s, %s to %s, row %d, column %d: %g is not %g\n", level.c_str(),
                         types.input, types.result, row, column, actual, expected);
            std::exit(1);
        }
    }
}

int main() {
    simt_pool *pool = simt_pool_create(1);
    const msl::Toolchain toolchain = msl::ask_compiler(msl::find_compiler());
    const std::string rows = std::to_string(ROWS), columns = std::to_string(COLUMNS),
                      depth = std::to_string(DEPTH);
    CHECK(!msl::cpu_levels().empty());
    for (const std::string &level : msl::cpu_levels()) {
        for (const Types &types : TYPES) {
            const msl_macro macros[] = {{"ROWS", rows.c_str()},
                                        {"COLUMNS", columns.c_str()},
                                        {"DEPTH", depth.c_str()},
                                        {"INPUT", types.input},
                                        {"RESULT", types.result}};
            Request request(SOURCE);
            request.language_version = 4 << 16;
            request.tensor_api = true;
            request.macros = macros;
            request.macro_count = std::size(macros);
            try {
                msl_library library(msl::compile({request, toolchain, level, MSL_HEADERS}));
                msl_library_bind(&library, &simt_runtime);
                check_products(pool, &library, types, level);
            } catch (const msl::Failure &failure) {
                std::fprintf(stderr, "%s: %s\n", level.c_str(), failure.message.c_str());
                std::exit(1);
            }
        }
    }
    simt_pool_release(pool);
}
