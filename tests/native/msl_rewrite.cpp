// The rewriter: which kernels it finds, and what becomes of MSL's own words.
#include "rewrite.h"

#include "function_constants.h"

#include <algorithm>

#include "msl_test.h"

static std::string rewritten(const std::string &text) {
    return msl::rewrite(text).text;
}

static std::string names(const std::string &text) {
    std::string result;
    for (const msl::Kernel &kernel : msl::rewrite(text).kernels) {
        result += kernel.name + "=" + kernel.function + " ";
    }
    return result;
}

static void finds_kernels() {
    CHECK_TEXT(names("kernel void f() {}"), "f=f ");
    CHECK_TEXT(names("[[kernel]] void f() {} [[kernel, host_name(\"g\")]] void h() {}"),
               "f=f g=h ");
    CHECK_TEXT(names("[[host_name(\"a\" \"b\")]] kernel void f() { if (1) {} }"), "ab=f ");
    CHECK_TEXT(names("kernel void [[max_total_threads_per_threadgroup(32)]]\nf() {}"), "f=f ");
    CHECK_TEXT(names("void f() { int kernel_of; } struct A { void kernel_like(); };"), "");
    CHECK_TEXT(names("kernel void declared(int x);"), "");
    CHECK_TEXT(names("namespace a { inline namespace b { kernel void f() {} } } "
                     "extern \"C\" { kernel void g() {} } kernel void h() {}"),
               "f=a::b::f g=g h=h ");
    CHECK_TEXT(
        names("struct S { int x; }; enum E { A, B }; int table[] = {1, 2}; kernel void f() {}"),
        "f=f ");
    CHECK_TEXT(names("struct S { int x; } one; kernel void f() {} int two = 2; kernel void g() {}"),
               "f=f g=g ");
    // The first of two namespaces.
    CHECK_TEXT(names("namespace a { kernel void f() {} } namespace b { kernel void f() {} }"),
               "f=a::f ");
}

static void finds_instantiations() {
    const std::string generic =
        "template <typename T, int N = (1 > 2) ? 3 : 4, typename = enable_if_t<(sizeof(T) < 8)>>\n"
        "kernel void f(device T *x [[buffer(0)]]) {}\n";
    CHECK_TEXT(names(generic), "");
    CHECK_TEXT(names(generic + "template [[host_name(\"f_int\")]] kernel void f<int, 3>"
                               "(device int *x [[buffer(0)]]);"),
               "f_int=f<int, 3> ");
    CHECK_TEXT(
        names(generic + "template [[host_name(\"a\")]] [[kernel]] decltype(f<half>) f<half>;"),
        "a=f<half> ");
    CHECK_TEXT(names(generic + "typedef decltype(f<int>) t; template [[host_name(\"a\")]] kernel t "
                               "f<int, (4 > 2) ? 1 : 2>;"),
               "a=f<int, (4 > 2) ? 1 : 2> ");
    CHECK_TEXT(names(generic + "template kernel void f<vec<int, 2>>(device vec<int, 2> *x);"),
               "f=f<vec<int, 2>> ");
    const std::string text =
        generic + "\ntemplate [[host_name(\"a\")]] kernel void f<int>(int *);\nint y;";
    CHECK(!contains(rewritten(text), "host_name"));
    CHECK(contains(rewritten(text), "\nint y;"));
    const msl::Rewritten limited = msl::rewrite(
        "template <int N> [[kernel, max_total_threads_per_threadgroup(N * 32)]] void g() {}\n"
        "template [[host_name(\"g2\")]] [[kernel]] void g<2>();");
    CHECK_TEXT(limited.kernels[0].limit, "__msl_limit0_g<2>");
    CHECK(contains(limited.text, "template <int N> constexpr unsigned __msl_limit0_g = (N * 32);"));
}

// Two of one name, told apart by their templates' parameters.
static void finds_the_template_of_an_instantiation() {
    const std::string both =
        "template <typename T, typename M, int N = 2> [[kernel]] void f(device T *a, device M *b) "
        "{}\n"
        "template <typename T, int N, int... R> [[kernel]] void f(device T *c) {}\n";
    const auto first_parameter = [&](const std::string &arguments) {
        const msl::Rewritten result =
            msl::rewrite(both + "template [[host_name(\"x\")]] [[kernel]] decltype(f<" + arguments +
                         ">) f<" + arguments + ">;");
        return result.kernels.at(0).parameters.at(0).name;
    };
    CHECK_TEXT(first_parameter("float, half"), "a");
    CHECK_TEXT(first_parameter("float, mask_t, (1 > 0) ? 2 : 3"), "a");
    CHECK_TEXT(first_parameter("vec<float, 4>, 3"), "c");
    CHECK_TEXT(first_parameter("float, (2 * 3)"), "c");
    CHECK_TEXT(first_parameter("float, 3, 4, 5, 6"), "c");
    // Which fits none, the compiler says.
    CHECK_TEXT(first_parameter("3"), "c");
}

static void reads_parameters() {
    const msl::Rewritten result = msl::rewrite(
        "kernel void f(device const float *a [[buffer(BASE + 1)]], constant P &b, uint2 c\n"
        "[[thread_position_in_grid]], constant long d[3] [[buffer(4), function_constant(on)]], "
        "threadgroup half *e [[threadgroup(0)]], texture<int, access::read> g) { a[c.x] = d[0]; }");
    const std::vector<msl::Parameter> &parameters = result.kernels[0].parameters;
    CHECK(parameters.size() == 6);
    CHECK_TEXT(parameters[0].name, "a");
    CHECK_TEXT(find_attribute(parameters[0].attributes, "buffer")->argument, "BASE + 1");
    CHECK(parameters[0].points && parameters[0].used && !parameters[0].threadgroup);
    CHECK(parameters[1].name == "b" && parameters[1].points && !parameters[1].used);
    CHECK(parameters[2].name == "c" && !parameters[2].points && parameters[2].used);
    CHECK(parameters[3].name == "d" && parameters[3].points);
    CHECK_TEXT(find_attribute(parameters[3].attributes, "function_constant")->argument, "on");
    CHECK(parameters[4].threadgroup && !find_attribute(parameters[4].attributes, "buffer"));
    CHECK(parameters[5].name == "g" && !parameters[5].points);
    CHECK(msl::rewrite("kernel void f(void) {}").kernels[0].parameters.empty());
    const msl::Rewritten within =
        msl::rewrite("kernel void f(constant float (&a)[8], device float **b, thread int *c) {}");
    const std::vector<msl::Parameter> &pointers = within.kernels[0].parameters;
    CHECK(pointers[0].name == "a" && pointers[0].points && pointers[0].spaced);
    CHECK(pointers[1].name == "b" && !pointers[1].spaced && !pointers[2].spaced);
}

static void rewrites_threadgroup_variables() {
    const auto body = [](const std::string &statement) {
        const std::string text = rewritten("kernel void f() {" + statement + "}");
        return text.substr(17, text.size() - 18);
    };
    CHECK_TEXT(body("threadgroup float x[4];"), "__msl_tgvar float x[4];");
    CHECK_TEXT(body("threadgroup array<int, 3> x;"), "__msl_tgvar array<int, 3> x;");
    CHECK_TEXT(body("int y; threadgroup S<(1 > 2)> x, z[2];"),
               "int y; __msl_tgvar S<(1 > 2)> x, z[2];");
    CHECK_TEXT(body("{ threadgroup uint x; }"), "{ __msl_tgvar uint x; }");
    CHECK_TEXT(body("alignas(16) threadgroup uint x;"), "alignas(16) __msl_tgvar uint x;");
    CHECK_TEXT(body("threadgroup alignas(16) uint x;"),
               "threadgroup alignas(16) __msl_tgstatic uint x;");
    CHECK_TEXT(body("uint threadgroup x;"), "__msl_tgstatic uint threadgroup x;");
    CHECK_TEXT(body("static threadgroup uint x;"), " __msl_tgvar uint x;");
    CHECK_TEXT(body("device T *threadgroup x;"), "__msl_tgstatic device T *threadgroup x;");
    CHECK_TEXT(body("typedef threadgroup T A; A x;"),
               "typedef threadgroup T A; __msl_tgstatic A x;");
    for (const char *text : {"auto x = (threadgroup uint *)y;", "return threadgroup x;",
                             "using A = threadgroup T *; A x;", "f(a, threadgroup b);"})
        CHECK_TEXT(body(text), text);
    for (const char *same : {"threadgroup float *x = y;", "threadgroup S &x = *y;",
                             "g((threadgroup half *)x);", "const threadgroup float *x;",
                             "f<threadgroup float *>(x);", "threadgroup T *const x = y;"}) {
        CHECK_TEXT(body(same), same);
    }
    CHECK_TEXT(rewritten("void f(threadgroup float *x [[threadgroup(0)]]) {}"),
               "void f(threadgroup float *x [[msl_tgattr (0)]]) {}");
}

// Once for each threadgroup, by whoever comes first.
static void moves_initialisers_of_threadgroup_variables() {
    const std::string text =
        rewritten("void f() { threadgroup float x[2] = {0, 1}, y, z = g(1, 2); }");
    CHECK(contains(text, "static thread_local unsigned char __msl_unset_x;") &&
          !contains(text, "] ="));
    CHECK(contains(text, "__msl_initial_x = {0, 1};") && contains(text, "_initial_z = g(1, 2);"));
    CHECK(!contains(text, "_initial_y"));
}

static void drops_overloads_that_address_spaces_tell_apart() {
    const auto same = [](const std::string &text) { CHECK_TEXT(rewritten(text), text); };
    const auto kept = [](const std::string &first, const std::string &second) {
        const std::string text = rewritten(first + second);
        CHECK(contains(text, first));
        CHECK(text.find_first_not_of(' ', first.size()) == std::string::npos);
    };
    kept("void f(device int *x) {}", "void f(threadgroup int *y) {}");
    kept("void f(const device T &x) {}", "inline void f(constant T &y) {}");
    kept("template <typename T> struct A<device T *> { int x; };",
         "template <typename T> struct A<thread T *> { int y; };");
    same("void f(device int *x) {}void f(threadgroup float *y) {}");
    same("void f(device int *x) {}void f(const threadgroup int *y) {}");
    same("void f(device int *x);void f(threadgroup int *y);");
    same("namespace a { void f(device int *x) {} } namespace b { void f(thread int *x) {} }");
    same("struct A { void f(device int *x) {} }; struct B { void f(thread int *x) {} };");
    same("int f(device unsigned int *x) {}int f(device unsigned long *x) {}");
    same("struct A { int g() thread { return 1; } int g() const device { return 2; } };");
    CHECK_TEXT(rewritten("struct A { A() thread : x(1) {} A() device : x{2} {} int x; };"),
               "struct A { A()  : x(1) {}      int x; };");
    const std::string conversions =
        rewritten("struct A { operator int() const thread { return 1; } "
                  "operator int() const device { return 2; } };");
    CHECK(contains(conversions, "return 1") && !contains(conversions, "return 2"));
}

static void rewrites_literals() {
    CHECK_TEXT(rewritten("1.0 .5 1e3 1.f 2.0F 0x1p-1 7 7u 0x1e 0x1bf 1'0.0"),
               "1.0f .5f 1e3f 1.f 2.0F 0x1p-1f 7 7u 0x1e 0x1bf 1'0.0f");
    CHECK_TEXT(rewritten("1.5h 16.h 1e-5h 2h"),
               "((half)1.5f) ((half)16.f) ((half)1e-5f) ((half)2.f)");
    CHECK_TEXT(rewritten("0.5bf"), "((bfloat)0.5f)");
    CHECK_TEXT(rewritten("\"1.0\" '1' x1.y"), "\"1.0\" '1' x1.y");
}

static void rewrites_function_constants() {
    const msl::Rewritten result = msl::rewrite("constant bool on [[function_constant(BASE + 2)]];");
    const std::string value =
        "__msl::function_constant<__msl::remove_cv_t<__msl::remove_reference_t<decltype(on)>>, "
        "(BASE + 2), struct __msl_named_on>::";
    CHECK_TEXT(result.text, "static constant bool &on    = " + value +
                                "value; constexpr bool __msl_defined_on = " + value +
                                "defined; constexpr int __msl_declared_on = " + value +
                                "declared;");
    CHECK(result.constants.size() == 1 && result.constants[0].index == "BASE + 2");
    const auto constants_of = [](const std::string &text) {
        std::string found;
        for (const msl::FunctionConstant &constant : msl::rewrite(text).constants)
            found += constant.name + "=" + constant.index + " ";
        return found;
    };
    CHECK_TEXT(constants_of("[[function_constant(1)]] constant vec<uint, 2> a;"), "a=1 ");
    CHECK_TEXT(constants_of("constant uint a [[function_constant(1)]], b[[function_constant(2)]];"),
               "a=1 b=2 ");
    CHECK_TEXT(constants_of("constant uint a = 1, b = 2; constant int c[] = {3};"), "");
    CHECK(contains(rewritten("constant int a [[function_constant(1)]], b[[function_constant(2)]];"),
                   "static constant int &b"));
    CHECK_TEXT(rewritten("constant int x = 3;"), "constant int x = 3;");
    const msl_constant constants[] = {{3, "true"}};
    msl_request request = {};
    request.constants = constants;
    request.constant_count = 1;
    CHECK(contains(msl::function_constant_values(request), "struct __msl::constant_value<3>"));
}

static void declares_the_swizzles_in_use() {
    CHECK_TEXT(
        msl::rewrite("v.zx = w->xxyw.bgr.x + xy.size + v.xr + v.xyzwx;").swizzles,
        "#define MSL_SWIZZLES_2\n"
        "#define MSL_SWIZZLES_3 MSL_SWIZZLE3(bgr, 2, 1, 0) MSL_SWIZZLE2(zx, 2, 0)\n"
        "#define MSL_SWIZZLES_4 MSL_SWIZZLE3(bgr, 2, 1, 0) MSL_CONSTANT_SWIZZLE4(xxyw, 0, 0, "
        "1, 3) MSL_SWIZZLE2(zx, 2, 0)\n");
}

static void strips_unroll_pragmas() {
    CHECK_TEXT(rewritten("#pragma unroll(N)\nint x;\n#pragma clang loop unroll(full)\n"
                         "#pragma once\n"),
               "                 \nint x;\n                               \n#pragma once\n");
}

// In templates, clang sees such assignments only as calls. A name that the text declares may be a
// member of the text's own.
static void replaces_swizzles_that_change_in_place() {
    CHECK_TEXT(rewritten("v.zx += w.xy; u->xyz <<= 1; v.x += 1; v.zx = v.xx;"),
               "v.__at_zx() += w.xy; u->__at_xyz() <<= 1; v.x += 1; v.zx = v.xx;");
    CHECK_TEXT(rewritten("struct P { float2 xy; }; p.xy += 1;"),
               "struct P { float2 xy; }; p.xy += 1;");
}

static void keeps_one_kernel_and_what_it_may_call() {
    const std::string text = "kernel void f() {} kernel void g() {}\nkernel void h() { g(); }";
    CHECK_TEXT(msl::rewrite(text, "h").text, "    kernel void g() {}\nkernel void h() { g(); }");
}

static void what_is_removed_stays_removed() {
    const std::string text =
        rewritten("template <typename T> kernel void f(threadgroup T *x [[threadgroup(0)]]) {}\n"
                  "template [[host_name(\"a\")]] kernel void f<half>(threadgroup half *x "
                  "[[threadgroup(0)]], int y = 1.0h);");
    CHECK(text.find_first_not_of(' ', text.find('\n') + 1) == std::string::npos);
}

// Whatever is left out or doubled, the rewriter ends, and keeps the number of lines.
static void survives_broken_text() {
    const std::string whole =
        "template <typename T, int N> [[kernel, max_total_threads_per_threadgroup(N)]] void f(\n"
        "  device T *x [[buffer(0)]], threadgroup half *y [[threadgroup(0)]]) {\n"
        "  threadgroup float z[4]; if (x < y) { g<h<3>>(1.0h); } }\n"
        "constant bool on [[function_constant(BASE + 1)]];\n"
        "namespace a { struct S { int x; }; }\n"
        "template [[host_name(\"f\" \"1\")]] [[kernel]] decltype(f<int, 3>) f<int, 3>;\n";
    const std::vector<msl::Token> tokens = msl::lex(whole);
    const auto lines = [](const std::string &text) {
        return std::count(text.begin(), text.end(), '\n');
    };
    for (const msl::Token &token : tokens) {
        std::string without = whole, doubled = whole;
        without.erase(token.offset, token.text.size());
        doubled.insert(token.offset, std::string(token.text) + " ");
        const std::string broken_off = whole.substr(0, token.offset);
        for (const std::string &text : {without, doubled, broken_off}) {
            try {
                CHECK(lines(rewritten(text)) == lines(text));
            } catch (const msl::TextError &refused) {
                CHECK(contains(refused.message, "unknown attribute"));
            }
        }
    }
    CHECK_TEXT(rewritten(""), "");
}

int main() {
    finds_kernels();
    finds_instantiations();
    finds_the_template_of_an_instantiation();
    reads_parameters();
    rewrites_threadgroup_variables();
    moves_initialisers_of_threadgroup_variables();
    drops_overloads_that_address_spaces_tell_apart();
    rewrites_literals();
    rewrites_function_constants();
    declares_the_swizzles_in_use();
    replaces_swizzles_that_change_in_place();
    keeps_one_kernel_and_what_it_may_call();
    what_is_removed_stays_removed();
    strips_unroll_pragmas();
    survives_broken_text();
}
