// Runs the kernels of tests/msl, which check themselves, on the engine: in each math mode, with
// threadgroups of several sizes, in each order of threads.
#include "msl_request.h"
#include "simt.h"

#include <algorithm>

static constexpr uint32_t SIZES[] = {1, 32, 52, 1024};
static constexpr simt_order ORDERS[] = {SIMT_HIGHEST_FIRST, SIMT_LOWEST_FIRST, SIMT_RANDOM};

// What language.metal expects of its function constants, by index.
static constexpr msl_constant CONSTANTS[] = {{0, "true"}, {1, "-3"}, {4, "7"}};

struct Buffers {
    std::vector<uint32_t> failed = std::vector<uint32_t>(1);
    std::vector<std::vector<uint32_t>> others =
        std::vector<std::vector<uint32_t>>(3, std::vector<uint32_t>(4096));
    bool flag = true;
};

// The contents that some kernels look for.
static void prepare(Buffers &buffers, const std::string &kernel, uint32_t threads) {
    if (kernel == "positions") buffers.others[0][0] = threads;
    if (kernel == "unmarked") {
        buffers.others[0][1] = 11;
        buffers.others[1][0] = 20;
        buffers.others[2][0] = 30;
    }
}

static void bind(simt_launch &launch, uint32_t index, void *pointer, size_t bytes) {
    launch.buffers[index] = pointer;
    launch.buffer_lengths[index] = bytes;
}

// The line of a check that failed, 0 for none.
static uint32_t run(simt_pool *pool, const msl_library *library, const msl_kernel *kernel,
                    uint32_t threads, simt_order order, simt_checker *checker = nullptr) {
    Buffers buffers;
    prepare(buffers, kernel->name, threads);
    simt_launch launch = {};
    launch.library = library;
    launch.kernel = kernel;
    bind(launch, 0, buffers.failed.data(), sizeof(uint32_t));
    for (uint32_t i = 0; i < buffers.others.size(); i++) {
        bind(launch, i + 1, buffers.others[i].data(), buffers.others[i].size() * sizeof(uint32_t));
    }
    bind(launch, 9, &buffers.flag, 1);
    launch.threadgroup_memory[0] = launch.threadgroup_memory[1] = 8192;
    for (int axis = 0; axis < 3; axis++)
        launch.threads[axis] = launch.threads_per_threadgroup[axis] = 1;
    launch.threads[0] = launch.threads_per_threadgroup[0] = threads;
    launch.order = order;
    launch.seed = threads;
    launch.checker = checker;
    if (checker) simt_checker_order(checker);
    simt_fault fault = {};
    if (simt_run(pool, &launch, &fault) != SIMT_FAULT_NONE) {
        std::fprintf(stderr, "%s: %s\n", kernel->name, fault.message);
        return 1;
    }
    return buffers.failed[0];
}

static int failures_of(simt_pool *pool, const std::string &file, msl_math_mode mode) {
    const std::string folder = std::string(MSL_KERNELS) + "/";
    Request request(read_file(folder + "checks.h") + "#line 1 \"" + file + "\"\n" +
                    read_file(folder + file));
    request.math_mode = mode;
    request.constants = CONSTANTS;
    request.constant_count = std::size(CONSTANTS);
    msl_library *library = request.compile();
    CHECK(library && msl_library_kernel_count(library) > 0);
    msl_library_bind(library, &simt_runtime);
    int failures = 0;
    for (size_t i = 0; i < msl_library_kernel_count(library); i++) {
        const msl_kernel *kernel = msl_library_kernel(library, i);
        for (const uint32_t threads : SIZES) {
            if (kernel->max_threads && threads > kernel->max_threads) continue;
            for (const simt_order order : ORDERS) {
                const uint32_t line = run(pool, library, kernel, threads, order);
                if (line == 0) continue;
                std::fprintf(stderr, "%s:%u: not so (kernel %s, %u threads, order %d, math %d)\n",
                             file.c_str(), line, kernel->name, threads, order, mode);
                failures++;
            }
        }
    }
    msl_library_release(library);
    return failures;
}

// Its threads all write several values, one after the other, to the same place.
static const std::string RACY = "misaligned";

// The kernels whose memory is checked: they keep to theirs, without a race.
static int findings_in(simt_pool *pool, const std::string &file) {
    const std::string folder = std::string(MSL_KERNELS) + "/";
    Request request(read_file(folder + "checks.h") + "#line 1 \"" + file + "\"\n" +
                    read_file(folder + file));
    request.constants = CONSTANTS;
    request.constant_count = std::size(CONSTANTS);
    request.checks = true;
    msl_library *library = request.compile();
    CHECK(library);
    msl_library_bind(library, &simt_runtime);
    simt_checker *checker = simt_checker_create(false);
    int findings = 0;
    for (size_t i = 0; i < msl_library_kernel_count(library); i++) {
        const msl_kernel *kernel = msl_library_kernel(library, i);
        for (const uint32_t threads : SIZES) {
            if (kernel->max_threads && threads > kernel->max_threads) continue;
            if (kernel->name == RACY) continue;
            findings += run(pool, library, kernel, threads, SIMT_HIGHEST_FIRST, checker) != 0;
        }
    }
    simt_checker_release(checker);
    msl_library_release(library);
    return findings;
}

int main() {
    const CompilerFolders folders;
    simt_pool *pool = simt_pool_create(2);
    int failures = 0;
    for (const char *file : {"vectors.metal", "math.metal", "language.metal", "simdgroups.metal",
                             "simdgroup_matrix.metal", "spaces.metal", "atomics.metal",
                             "library.metal", "functions.metal", "shared.metal", "matrices.metal",
                             "scalars.metal", "async_copy.metal"}) {
        for (const msl_math_mode mode : {MSL_MATH_SAFE, MSL_MATH_RELAXED, MSL_MATH_FAST}) {
            failures += failures_of(pool, file, mode);
        }
        failures += findings_in(pool, file);
    }
    CHECK(failures == 0);
    // The checks themselves can fail.
    CHECK(failures_of(pool, "failing.metal", MSL_MATH_RELAXED) ==
          int(std::size(SIZES) * std::size(ORDERS)));
    simt_pool_release(pool);
}
