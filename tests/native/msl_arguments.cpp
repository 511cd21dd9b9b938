// What a kernel's head has to be: its name, its arguments, and what attributes say of them.
#include "msl_request.h"
#include "toolchain.h"

#include <sys/stat.h>

static std::string errors_of(const std::string &parameter) {
    return errors("kernel void f(\n" + parameter + ") {}\n");
}

static void accepts(const std::string &text) {
    const Request request(text);
    msl_library *library = request.compile();
    CHECK(library);
    msl_library_release(library);
}

static void arguments_that_no_buffer_can_be() {
    CHECK_TEXT(errors_of("float *x [[buffer(0)]]"),
               "program_source:2:8: error: 'x' needs an address space: what a kernel's argument "
               "points or refers to is 'device', 'constant' or 'threadgroup'; write "
               "'device float *x'\n"
               "float *x [[buffer(0)]]) {}\n"
               "       ^\n");
    CHECK(contains(errors_of("float &x"), "2:8: error: 'x' needs an address space"));
    CHECK(contains(errors_of("const float *x"), "write 'device const float *x'\n"));
    CHECK(contains(errors_of("thread float *x"), "write 'device float *x'\n"));
    CHECK(contains(errors_of("device int *a, thread const int &x [[buffer(2)]]"),
                   "2:34: error: 'x' needs an address space"));
    for (const char *parameter : {"float x[4]", "const float (&x)[8] [[buffer(1)]]",
                                  "device float **x [[buffer(0)]]", "metal::float4 *x"}) {
        CHECK(contains(errors_of(parameter), "error: 'x' needs an address space"));
    }
}

// However the type is named.
static void arguments_behind_other_names() {
    for (const char *head :
         {"typedef float *P;\nkernel void f(P x [[buffer(0)]]) {}",
          "template <class T> using P = T *;\nkernel void f(P<int> x [[buffer(0)]]) {}",
          "#define P float *\nkernel void f(P x [[buffer(0)]]) {}",
          "template <class P> kernel void f(P x [[buffer(0)]]) {}\n"
          "template [[host_name(\"a\")]] kernel void f<float *>(float *x);",
          "template <class T> kernel void f(T *x [[buffer(0)]]) {}\n"
          "template [[host_name(\"a\")]] kernel void f<float>(float *x);"}) {
        CHECK(contains(errors(head), "error: 'x' needs an address space"));
    }
    accepts("typedef device float *P;\nkernel void f(P x [[buffer(0)]]) {}");
    accepts("template <class P> kernel void f(P x [[buffer(0)]]) {}\n"
            "template [[host_name(\"a\")]] kernel void f<device float *>(device float *x);");
    accepts("template <class T> kernel void f(T *x [[buffer(0)]]) {}\n"
            "template [[host_name(\"a\")]] kernel void f<constant int>(constant int *x);");
    accepts("kernel void f(constant float (&x)[8] [[buffer(0)]], device float *constant *y,\n"
            "    threadgroup int (*z)[2] [[threadgroup(0)]], volatile device int &w) {}");
}

static void a_text_of_many_kernels_is_checked_whole() {
    std::string text = "constant bool ON [[function_constant(0)]];\n";
    for (int i = 0; i < 6; i++)
        text += "kernel void f" + std::to_string(i) + "(device int *x) { x[0] = ON; }\n";
    const Request request(text + "kernel void last(\n    float *x) { x[0] = ON; }");
    msl_failure failure = {};
    CHECK(!msl_check(&request, &failure) && contains(failure.message, "9:12: error: 'x' needs an"));
    std::free(failure.message);
}

static void indices() {
    CHECK_TEXT(errors_of("device int *x [[buffer(missing)]]"),
               "program_source:2:24: error: use of undeclared identifier 'missing'\n"
               "device int *x [[buffer(missing)]]) {}\n"
               "                       ^\n");
    for (const char *index : {"31", "-1", "5000000000"}) {
        const std::string parameter = std::string("device int *x [[buffer(") + index + ")]]";
        CHECK(contains(errors_of(parameter), "2:24: error: argument indices go from 0 to 30\n"));
    }
    CHECK(contains(errors_of("device int *x [[buffer(1.5)]]"), "program_source:2:24: error: "));
    CHECK(contains(errors_of("threadgroup int *x [[threadgroup(99)]]"),
                   "2:34: error: argument indices go from 0 to 30\n"));
    CHECK(contains(errors_of("device int *x [[buffer(0), function_constant(missing)]]"),
                   "2:46: error: use of undeclared identifier 'missing'\n"));
    std::string many;
    for (int i = 0; i < 32; i++)
        many += (i ? ",\n" : "") + std::string("device int *x") + std::to_string(i);
    CHECK(contains(errors_of(many), "33:13: error: argument indices go from 0 to 30\n"));
}

static void indices_of_function_constants() {
    for (const char *index : {"-1", "65536"}) {
        const std::string text = std::string("constant bool on [[function_constant(") + index +
                                 ")]];\nkernel void f(device int *x) { x[0] = on; }";
        CHECK(contains(errors(text), "program_source:1:18: error: indices of function constants go "
                                     "from 0 to 65535\n"));
    }
    CHECK_TEXT(errors("constant bool on [[function_constant(x)]];\n"
                      "kernel void f(device int *x) { x[0] = on; }"),
               "program_source:1:38: error: use of undeclared identifier 'x'\n"
               "constant bool on [[function_constant(x)]];\n"
               "                                     ^\n");
}

static void misspelt_attributes() {
    CHECK_TEXT(errors_of("device int *x [[bufer(0)]]"),
               "program_source:2:17: error: unknown attribute 'bufer'; did you mean 'buffer'?\n"
               "device int *x [[bufer(0)]]) {}\n"
               "                ^\n");
    CHECK(contains(errors_of("uint i [[thread_position_in_gird]]"),
                   "did you mean 'thread_position_in_grid'?"));
    CHECK(contains(errors("[[kernal]] void f() {}"), "1:3: error: unknown attribute 'kernal'"));
    CHECK(contains(errors("[[host_nmae(\"g\")]] kernel void f() {}"), "mean 'host_name'?"));
    accepts("[[clang::noinline, gnu::always_inline, unrolled, user(locn0)]] int g() { return 1; }\n"
            "[[kernel, early_fragment_tests]] void f(device int *x [[flat, buffer(0)]],\n"
            "    uint2 i [[thread_position_in_grid, center_perspective]]) {\n"
            "    [[maybe_unused]] int y = x[0]; [[unroll]] for (; y < 0; y++) { } }");
}

static void two_kernels_of_one_name() {
    const std::string plain = "kernel void f(device int *x [[buffer(0)]]) { x[0] = 1; }\n";
    CHECK_TEXT(errors(plain + "\n  " + plain),
               "program_source:3:15: error: redefinition of kernel 'f'\n  " + plain +
                   "              ^\n"
                   "program_source:1:13: note: previous definition is here\n" +
                   plain + "            ^\n");
    CHECK(contains(errors(plain + "[[host_name(\"f\")]] kernel void g(device int *x) {}"),
                   "2:32: error: redefinition of kernel 'f'\n"));
    const std::string generic =
        "template <class T> kernel void g(device T *x [[buffer(0)]]) { x[0] = 1; }\n";
    const std::string named = "template [[host_name(\"f\")]] kernel void g<";
    CHECK(contains(errors(plain + generic + named + "int>(device int *);"), "3:41: error: redef"));
    CHECK(contains(
        errors(generic + named + "int>(device int *);\n" + named + "uint>(device uint *);"),
        "program_source:2:41: note: previous definition is here\n"));
}

// As where a library has one for masks of any type and one for masks of bool.
static void two_templates_of_one_name() {
    const Request request(
        "template <class T, class M, int N> [[kernel, max_total_threads_per_threadgroup(N * 32)]]\n"
        "void f(device T *x [[buffer(0)]], device M *mask [[buffer(3)]]) { x[0] = mask[0]; }\n"
        "template <class T, int N> [[kernel, max_total_threads_per_threadgroup(N * 64)]]\n"
        "void f(device T *y [[buffer(0)]]) { y[0] = N; }\n"
        "template [[host_name(\"a\")]] [[kernel]] decltype(f<int, bool, 2>) f<int, bool, 2>;\n"
        "template [[host_name(\"b\")]] [[kernel]] decltype(f<int, 2>) f<int, 2>;\n");
    msl_library *library = request.compile();
    CHECK(library);
    const msl_kernel *a = msl_library_find(library, "a"), *b = msl_library_find(library, "b");
    CHECK(a && a->binding_count == 2 && a->max_threads == 64);
    CHECK(b && b->binding_count == 1 && b->max_threads == 128);
    msl_library_release(library);
}

static void arrays_are_as_long_as_they_are() {
    const Request request("kernel void f(constant float (&a)[8] [[buffer(0)]],\n"
                          "    device metal::float4 (&b)[2] [[buffer(1)]],\n"
                          "    device int (*c)[3] [[buffer(2)]]) { b[1] = a[7] + c[0][2]; }");
    msl_library *library = request.compile();
    CHECK(library);
    const msl_kernel *kernel = msl_library_find(library, "f");
    const char *names[] = {"a", "b", "c"};
    const uint32_t sizes[] = {32, 32, 12};
    for (size_t i = 0; i < 3; i++) {
        CHECK_TEXT(kernel->bindings[i].name, names[i]);
        CHECK(kernel->bindings[i].size == sizes[i] && kernel->bindings[i].used);
    }
    CHECK(!kernel->bindings[0].writable && kernel->bindings[1].writable);
    msl_library_release(library);
}

// A compiler that fails where only address spaces are looked for does not let a text pass.
static void a_check_that_says_nothing_is_no_check() {
    const msl::TemporaryFolder folder;
    const std::string script = folder.path() + "/clang++", compiler = msl::find_compiler();
    for (const std::string ending : {"exit 0", "exit 1", "kill -SEGV $$"}) {
        std::ofstream(script)
            << "#!/bin/sh\nfor a; do\n  if [ \"$a\" = -fno-spell-checking ]; then " << ending
            << "; fi\ndone\nexec " << compiler << " \"$@\"\n";
        CHECK(chmod(script.c_str(), 0700) == 0 &&
              setenv("FLASHMETAL_CLANG", script.c_str(), 1) == 0);
        const std::string said = errors("kernel void f() {}\n// " + ending + "\n", MSL_FAILURE_IO);
        CHECK(contains(said, "cannot check address spaces: " + script + " failed with status "));
    }
    unsetenv("FLASHMETAL_CLANG");
}

int main() {
    const CompilerFolders folders;
    arguments_that_no_buffer_can_be();
    arguments_behind_other_names();
    a_text_of_many_kernels_is_checked_whole();
    indices();
    indices_of_function_constants();
    misspelt_attributes();
    two_kernels_of_one_name();
    two_templates_of_one_name();
    arrays_are_as_long_as_they_are();
    a_check_that_says_nothing_is_no_check();
}
