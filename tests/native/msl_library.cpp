// Compiled libraries: what they say about their kernels, when they come from the cache, and what
// happens where there is no compiler, no cache or no such file.
#include "msl_request.h"

#include "cpu_level.h"
#include "elf_symbols.h"
#include "process.h"
#include "sha256.h"

#include <algorithm>
#include <filesystem>
#include <thread>

namespace fs = std::filesystem;

static const std::string SOURCE = R"(
#include <metal_stdlib>
using namespace metal;
struct Params { uint count; float4 scale; };
constant bool negative [[function_constant(1)]];
kernel void scale(device const half4 *in [[buffer(1)]], device float4 *out [[buffer(0)]],
                  constant Params &params [[buffer(30)]], device uchar *unused [[buffer(2)]],
                  threadgroup float *shared [[threadgroup(3)]],
                  uint i [[thread_position_in_grid]]) {
    threadgroup float4 cache[10];
    threadgroup half more[3];
    cache[i % 10] = float4(in[i]);
    more[i % 3] = shared[0];
    threadgroup_barrier(mem_flags::mem_threadgroup);
    out[i] = cache[(i + 1) % 10] * params.scale * (negative ? -FACTOR : FACTOR) + more[0];
}
[[kernel, max_total_threads_per_threadgroup(64 * 2)]] void nothing() {}
)";

static const msl_macro MACROS[] = {{"FACTOR", "2"}};
static const msl_constant CONSTANTS[] = {{1, "false"}};

struct ScaleRequest : Request {
    ScaleRequest() : Request(SOURCE) {
        macros = MACROS;
        macro_count = 1;
        constants = CONSTANTS;
        constant_count = 1;
    }
};

static void check_binding(const msl_binding &binding, const char *name, uint32_t index,
                          uint32_t kind, bool used, bool writable, uint32_t alignment,
                          uint32_t size) {
    CHECK_TEXT(binding.name, name);
    CHECK(binding.index == index && binding.kind == kind);
    CHECK(binding.used == used && binding.writable == writable);
    CHECK(binding.alignment == alignment && binding.size == size);
}

static void describes_kernels() {
    const ScaleRequest request;
    msl_library *library = request.compile();
    CHECK(library && msl_library_kernel_count(library) == 2);
    const msl_kernel *scale = msl_library_find(library, "scale");
    CHECK(scale == msl_library_kernel(library, 0) && !msl_library_find(library, "none"));
    CHECK(scale->max_threads == 0 && msl_library_find(library, "nothing")->max_threads == 128);
    CHECK(scale->binding_count == 5);
    const uint32_t buffer = MSL_BINDING_BUFFER;
    check_binding(scale->bindings[0], "in", 1, buffer, true, false, 8, 8);
    check_binding(scale->bindings[1], "out", 0, buffer, true, true, 16, 16);
    check_binding(scale->bindings[2], "params", 30, buffer, true, false, 16, 32);
    check_binding(scale->bindings[3], "unused", 2, buffer, false, true, 1, 1);
    check_binding(scale->bindings[4], "shared", 3, MSL_BINDING_THREADGROUP_MEMORY, true, true, 4,
                  4);
    CHECK(msl_kernel_static_memory(library, scale) == 166);
    CHECK(msl_kernel_static_memory(library, msl_library_find(library, "nothing")) == 0);
    CHECK_TEXT(msl_library_source_digest(library), msl::hexadecimal(msl::Sha256::of(SOURCE)));
    msl_library_release(library);
}

// Each OS thread has threadgroup variables of its own, there before any kernel ran.
static void has_a_block_for_each_thread() {
    const ScaleRequest request;
    msl_library *library = msl_library_retain(request.compile());
    msl_library_release(library);
    size_t bytes = 0, other_bytes = 0;
    char *own = static_cast<char *>(msl_library_threadgroup_block(library, &bytes));
    CHECK(own && bytes >= 166 && own == msl_library_threadgroup_block(library, &bytes));
    char *other = nullptr;
    std::thread([&] {
        other = static_cast<char *>(msl_library_threadgroup_block(library, &other_bytes));
        std::fill(other, other + other_bytes, 1);
    }).join();
    CHECK(other != own && other_bytes == bytes);
    std::fill(own, own + bytes, 2);
    msl_library_release(library);

    const Request without("kernel void f() {}");
    library = without.compile();
    CHECK(!msl_library_threadgroup_block(library, &bytes) && bytes == 0);
    msl_library_release(library);
}

static std::vector<msl_variable> threadgroup_variables(const msl_library *library) {
    const msl_variable *first;
    const size_t count = msl_library_threadgroup_variables(library, &first);
    std::vector<msl_variable> variables(first, first + count);
    std::sort(variables.begin(), variables.end(),
              [](const msl_variable &a, const msl_variable &b) { return a.offset < b.offset; });
    return variables;
}

// An index that leaves one of them meets nothing, where memory is checked.
static void checked_variables_lie_apart() {
    ScaleRequest request;
    msl_library *library = request.compile();
    CHECK(threadgroup_variables(library).size() == 2);
    msl_library_release(library);
    request.checks = true;
    library = request.compile();
    const std::vector<msl_variable> two = threadgroup_variables(library);
    size_t bytes = 0;
    CHECK(msl_library_threadgroup_block(library, &bytes));
    CHECK(two.size() == 2 && two[0].bytes + two[1].bytes == 166);
    CHECK_TEXT(two[0].name, two[0].bytes == 6 ? "more" : "cache");
    CHECK(two[0].offset + two[0].bytes + 4096 <= two[1].offset);
    CHECK(two[1].offset + two[1].bytes + 4096 <= bytes);
    msl_library_release(library);
}

// Compiles; says whether that ran the compiler.
static bool runs_compiler(const msl_request &request) {
    msl_failure failure = {};
    const uint64_t before = msl_compile_count();
    msl_library *library = msl_compile(&request, &failure);
    CHECK(library);
    msl_library_release(library);
    return msl_compile_count() > before;
}

static void caches_by_everything_that_matters() {
    const ScaleRequest base;
    runs_compiler(base);
    CHECK(!runs_compiler(base));
    const Request other_source(SOURCE + " ");
    msl_request changed = other_source;
    changed.macros = MACROS;
    changed.macro_count = 1;
    changed.constants = CONSTANTS;
    changed.constant_count = 1;
    CHECK(runs_compiler(changed) && !runs_compiler(changed));
    changed = base;
    const msl_macro macros[] = {{"FACTOR", "3"}, {"MORE", "1"}};
    changed.macros = macros;
    CHECK(runs_compiler(changed) && !runs_compiler(changed));
    changed.macro_count = 2;
    CHECK(runs_compiler(changed) && !runs_compiler(changed));
    changed = base;
    const msl_constant constants[] = {{1, "true"}, {2, "false"}};
    changed.constants = constants;
    CHECK(runs_compiler(changed) && !runs_compiler(changed));
    changed.constant_count = 2;
    CHECK(runs_compiler(changed) && !runs_compiler(changed));
    changed = base;
    for (const char *function : {"scale", "nothing", ""}) {
        changed.function = function;
        CHECK(runs_compiler(changed) && !runs_compiler(changed));
    }
    changed = base;
    changed.math_mode = MSL_MATH_SAFE;
    CHECK(runs_compiler(changed) && !runs_compiler(changed));
    changed = base;
    changed.language_version = 3 << 16 | 1;
    CHECK(runs_compiler(changed) && !runs_compiler(changed));
    CHECK(!runs_compiler(base));
}

static void broken_caches_do_no_harm(const std::string &folder) {
    const ScaleRequest request;
    runs_compiler(request);
    // What is in the cache is the library's bytes: not one may be believed unseen.
    for (const auto &entry : fs::directory_iterator(folder + "/cache")) {
        fs::resize_file(entry.path(), fs::file_size(entry.path()) / 2);
    }
    CHECK(runs_compiler(request) && !runs_compiler(request));
    for (const std::string &cache : {std::string("/proc/nothing"), folder + "/file"}) {
        std::ofstream(folder + "/file") << "x";
        msl_set_cache(cache.c_str());
        CHECK(runs_compiler(request) && runs_compiler(request));
    }
    msl_set_cache((folder + "/cache").c_str());
}

static void several_threads_compile() {
    std::vector<std::thread> threads;
    for (int i = 0; i < 4; i++) {
        threads.emplace_back([i] {
            const Request request("kernel void k" + std::to_string(i % 2) + "() {}");
            msl_library *library = request.compile();
            CHECK(library && msl_library_kernel_count(library) == 1);
            msl_library_release(library);
        });
    }
    for (std::thread &thread : threads)
        thread.join();
}

static void says_how_to_get_a_compiler() {
    const Request request("kernel void no_compiler() {}");
    std::string message;
    int kind = 0;
    setenv("FLASHMETAL_CLANG", "/no/clang", 1);
    CHECK(!request.compile(&message, &kind) && kind == MSL_FAILURE_COMPILER);
    for (const char *word : {"/no/clang", "apt install clang-19", "dnf install", "pacman -S"}) {
        CHECK(contains(message, word));
    }
    setenv("FLASHMETAL_CLANG", "/bin/echo", 1);
    CHECK(!request.compile(&message, &kind) && kind == MSL_FAILURE_COMPILER);
    unsetenv("FLASHMETAL_CLANG");
    const std::string path = getenv("PATH");
    setenv("PATH", "/nowhere", 1);
    CHECK(!request.compile(&message, &kind) && kind == MSL_FAILURE_COMPILER);
    CHECK(contains(message, "no clang++ found") && contains(message, "FLASHMETAL_CLANG"));
    setenv("PATH", path.c_str(), 1);
    msl_library_release(request.compile());
}

static std::string open_problem(const std::string &path) {
    msl_failure failure = {};
    CHECK(!msl_open(path.c_str(), &failure));
    CHECK(failure.kind == MSL_FAILURE_IO);
    const std::string message = failure.message;
    std::free(failure.message);
    return message;
}

static void opens_the_best_library(const std::string &folder) {
    std::ofstream(folder + "/k.metal") << "kernel void k() { threadgroup int x[2]; x[0] = 1; }";
    const std::string path = folder + "/k.hostlib";
    CHECK(contains(open_problem(path), path));
    for (const std::string &level : msl::cpu_levels()) {
        const std::string output = folder + "/k." + level + ".hostlib";
        const std::vector<std::string> command = {
            MSLC, "--headers", MSL_HEADERS, "--level", level, "-o", output, folder + "/k.metal"};
        CHECK(msl::run_program(command, "").status == 0);
        const std::string bytes = read_file(output);
        for (size_t length = 0; length < bytes.size(); length += 97) {
            const msl::ElfSymbols symbols(bytes.substr(0, length));  // whatever it finds, it ends
            CHECK(symbols.thread_local_bytes(0) == 0);
        }
    }
    const uint64_t before = msl_compile_count();
    msl_failure failure = {};
    msl_library *library = msl_open(path.c_str(), &failure);
    CHECK(library && msl_library_find(library, "k") && msl_compile_count() == before);
    msl_library_release(library);
    std::ofstream(folder + "/k." + msl::cpu_levels()[0] + ".hostlib") << "no library";
    CHECK(contains(open_problem(path), "cannot load"));
    fs::remove(folder + "/k." + msl::cpu_levels()[0] + ".hostlib");
    if (msl::cpu_levels().size() > 1) {
        library = msl_open(path.c_str(), &failure);
        CHECK(library);
        msl_library_release(library);
    }
}

int main() {
    const CompilerFolders folders;
    describes_kernels();
    has_a_block_for_each_thread();
    checked_variables_lie_apart();
    caches_by_everything_that_matters();
    broken_caches_do_no_harm(folders.temporary.path());
    several_threads_compile();
    says_how_to_get_a_compiler();
    opens_the_best_library(folders.temporary.path());
}
