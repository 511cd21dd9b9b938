// Texts that are checked whole and compiled kernel by kernel, and the function constants that a
// kernel cannot do without.
#include "msl_request.h"

static const std::string CONSTANTS = R"(
#include <metal_stdlib>
using namespace metal;
constant bool has_offset [[function_constant(0)]];
constant int offset [[function_constant(1)]];
constant uint SIZE [[function_constant(BASE + 2)]];
constant float scale [[function_constant(3)]];
constant int used_offset = has_offset ? offset : 0;
constant float factor = is_function_constant_defined(scale) ? scale : 1.0f;
namespace inner { constant short width [[function_constant(7)]]; }
template <uint N> struct Cells { int cells[N]; };

kernel void plain(device int *out [[buffer(0)]]) { out[0] = factor > 1; }
kernel void shifted(device int *out [[buffer(0)]]) { out[0] = used_offset; }
kernel void branching(device int *out [[buffer(0)]]) { if (has_offset) out[0] = offset; }
kernel void optional(device int *out [[buffer(0)]],
                     device int *more [[buffer(1), function_constant(has_offset)]]) {
    if (has_offset) out[0] = more[0];
}
kernel void bounded(device int *out [[buffer(0)]]) {
    threadgroup int cells[SIZE];
    cells[0] = SIZE;
    out[0] = cells[0] + sizeof(Cells<SIZE + 1>);
}
kernel void qualified(device int *out [[buffer(0)]]) { out[0] = inner::width; }
)";

static const msl_macro BASE[] = {{"BASE", "0"}};

struct ConstantsRequest : Request {
    ConstantsRequest(const char *name, std::vector<msl_constant> values)
        : Request(CONSTANTS), values_(std::move(values)) {
        macros = BASE;
        macro_count = 1;
        function = name;
        constants = values_.data();
        constant_count = values_.size();
    }

  private:
    const std::vector<msl_constant> values_;
};

static msl_library *check(const Request &request, std::string *problem = nullptr) {
    msl_failure failure = {};
    msl_library *library = msl_check(&request, &failure);
    if (problem) *problem = failure.message ? failure.message : "";
    if (!library && !problem) std::fprintf(stderr, "%s\n", failure.message);
    std::free(failure.message);
    return library;
}

// What `name` is refused for; empty where it compiles, and then it is the only one.
static std::string refusal(const char *name, std::vector<msl_constant> values) {
    const ConstantsRequest request(name, std::move(values));
    std::string problem;
    int kind = 0;
    msl_library *library = request.compile(&problem, &kind);
    if (!library) {
        CHECK(kind == MSL_FAILURE_CONSTANT && contains(problem, std::string("'") + name + "'"));
        return problem;
    }
    CHECK(msl_library_kernel_count(library) == 1 && msl_library_find(library, name)->entry);
    msl_library_release(library);
    return "";
}

static void names_missing_constants() {
    CHECK_TEXT(refusal("plain", {}), "");
    CHECK_TEXT(refusal("plain", {{3, "2.0f"}}), "");
    CHECK_TEXT(refusal("shifted", {}),
               "function 'shifted' needs function constants that were given "
               "no value: 'has_offset' (index 0), 'offset' (index 1)\n");
    CHECK(contains(refusal("shifted", {{0, "true"}}), ": 'offset' (index 1)\n"));
    CHECK_TEXT(refusal("shifted", {{0, "false"}}), "");
    CHECK_TEXT(refusal("branching", {{0, "false"}}), "");
    CHECK(contains(refusal("branching", {{0, "true"}}), ": 'offset' (index 1)\n"));
    CHECK(contains(refusal("optional", {}), ": 'has_offset' (index 0)\n"));
    CHECK(contains(refusal("bounded", {{0, "true"}}), ": 'SIZE' (index 2)\n"));
    CHECK_TEXT(refusal("bounded", {{2, "5"}}), "");
    CHECK(contains(refusal("qualified", {}), ": 'width' (index 7)\n"));
}

static void constants_without_a_value_may_be_zero() {
    ConstantsRequest request("shifted", {{0, "true"}});
    std::string problem;
    CHECK(!request.compile(&problem));
    request.zero_constants = true;
    msl_library *library = request.compile();
    CHECK(library && msl_library_find(library, "shifted")->entry);
    msl_library_release(library);
    request.zero_constants = false;
    CHECK(!request.compile(&problem));
}

static void checks_without_constants() {
    const ConstantsRequest request("none", {});
    msl_library *library = check(request);
    CHECK(library && msl_library_kernel_count(library) == 6);
    CHECK_TEXT(msl_library_kernel(library, 4)->name, "bounded");
    CHECK(!msl_library_find(library, "bounded")->entry && !msl_library_find(library, "none"));
    CHECK(std::string(msl_library_source_digest(library)).size() == 64);
    const uint64_t before = msl_compile_count();
    msl_library *again = check(request);
    CHECK(again && msl_library_kernel_count(again) == 6 && msl_compile_count() == before);
    msl_library_release(again);
    msl_library_release(library);
}

static std::string many_kernels(int count) {
    std::string text = "#include <metal_stdlib>\nusing namespace metal;\n"
                       "template <int N> kernel void f(device int *out [[buffer(0)]]) {\n"
                       "    static_assert(N != 7, \"not seven\");\n    out[0] = N;\n}\n";
    for (int i = 0; i < count; i++) {
        const std::string n = std::to_string(i);
        text += "template [[host_name(\"f" + n + "\")]] kernel void f<" + n + ">(device int *);\n";
    }
    return text;
}

static void few_kernels_are_compiled_at_once() {
    const Request few(many_kernels(4)), many(many_kernels(5));
    msl_library *library = check(few);
    CHECK(library && msl_library_find(library, "f3")->entry);
    msl_library_release(library);
    library = check(many);
    CHECK(library && !msl_library_find(library, "f3")->entry);
    msl_library_release(library);
}

// What is wrong with one instance is said of that one; what is wrong with the text, of the library.
static void errors_of_instances_come_with_the_kernel() {
    Request request(many_kernels(9));
    msl_library *library = check(request);
    CHECK(library && msl_library_kernel_count(library) == 9);
    msl_library_release(library);
    std::string problem;
    request.function = "f7";
    CHECK(!request.compile(&problem) && contains(problem, "program_source:4:19: error") &&
          contains(problem, "not seven"));
    request.function = "f8";
    library = request.compile();
    CHECK(library && msl_library_kernel_count(library) == 1);
    msl_library_release(library);
    CHECK(!check(Request(many_kernels(9) + "void g() { return 1 + }\n"), &problem));
    CHECK(contains(problem, "program_source:16:23: error: expected expression"));
}

int main() {
    const CompilerFolders folders;
    names_missing_constants();
    constants_without_a_value_may_be_zero();
    checks_without_constants();
    few_kernels_are_compiled_at_once();
    errors_of_instances_come_with_the_kernel();
}
