// What a host is told about text that does not compile: the user's lines, columns and names.
#include "msl_request.h"

#include <filesystem>
#include <fstream>

static std::string errors_in(const std::string &statement) {
    return errors("#include <metal_stdlib>\nusing namespace metal;\n"
                  "kernel void f(device float4 *x [[buffer(0)]]) {\n" +
                  statement + "\n}\n");
}

static void missing_headers() {
    const std::string source = "#include <metal_stdlib>\n#include <metal_tensor>\n";
    CHECK_TEXT(errors(source), "program_source:2:10: fatal error: 'metal_tensor' file not found\n"
                               "#include <metal_tensor>\n"
                               "         ^~~~~~~~~~~~~~\n");
    CHECK_TEXT(errors("#include \"own.h\"\n"),
               "program_source:1:10: fatal error: 'own.h' file not found\n"
               "#include \"own.h\"\n"
               "         ^~~~~~~\n");
}

// The cache's key does not know them, and no Metal has them.
static void headers_outside_ours_are_missing() {
    const msl::TemporaryFolder folder;
    const std::string path = folder.path() + "/own.h";
    std::ofstream(path) << "constant int from_a_file = 1;\n";
    CHECK_TEXT(errors("#include <metal_stdlib>\n\n  # include \"" + path + "\"\n"),
               "program_source:3:13: fatal error: '" + path +
                   "' file not found\n"
                   "  # include \"" +
                   path +
                   "\"\n"
                   "            ^" +
                   std::string(path.size() + 1, '~') + "\n");
    const std::filesystem::path before = std::filesystem::current_path();
    std::filesystem::current_path(folder.path());
    CHECK(contains(errors("#include \"own.h\"\n"),
                   "program_source:1:10: fatal error: 'own.h' file not found\n"));
    std::filesystem::current_path(before);
    for (const std::string &question :
         {"__has_include(\"" + path + "\")", std::string("__has_include(\"own.h\")"),
          "__has_embed(\"" + path + "\")"}) {
        CHECK(contains(errors("#if " + question + "\n#error yes\n#else\n#error no\n#endif\n"),
                       "error: no\n"));
    }
    CHECK(contains(errors("constant char text[] = {\n#embed \"" + path + "\"\n};\n"),
                   "program_source:2:8: fatal error: '" + path + "' file not found\n"));
}

static void a_byte_order_mark_is_no_text() {
    CHECK(contains(errors("\xef\xbb\xbfkernel void f() { oops; }\n"),
                   "program_source:1:19: error: use of undeclared identifier 'oops'\n"));
}

static void what_no_kernel_can_have() {
    CHECK_TEXT(errors_in("    double y = 1;"),
               "program_source:4:5: error: 'double' is not part of the "
               "Metal Shading Language\n"
               "    double y = 1;\n"
               "    ^\n");
    for (const char *statement :
         {"throw 1;", "try { } catch (...) { }", "float *y = new float[2];", "delete x;",
          "goto end;", "asm(\"nop\");", "typeid(x);", "dynamic_cast<int *>(x);"}) {
        CHECK(contains(errors_in(statement), "is not part of the Metal Shading Language\n"));
    }
    Request local("void f() { thread_local int y = 1; }");
    std::string problem;
    CHECK(!local.compile(&problem) && contains(problem, "1:12: error: 'thread_local' is not part"));
    CHECK(contains(errors("struct A { virtual void f(); };"),
                   "program_source:1:12: error: 'virtual'"));
    CHECK_TEXT(
        errors("template <typename T> kernel void f(device T *x [[buffer(0)]]) { x[0] = 1; }\n"
               "template [[host_name(\"g\")]] kernel void f<float, 3>(device float *);\n"),
        "program_source:2:41: error: no kernel template takes the arguments of this "
        "instantiation\n"
        "template [[host_name(\"g\")]] kernel void f<float, 3>(device float *);\n"
        "                                        ^\n");
    CHECK(contains(errors("int (*next[2])(int);"), "1:7: error: pointers to functions"));
    CHECK(contains(errors("int (*next)(int);"),
                   "program_source:1:7: error: pointers to functions, such as 'next', are"));
    CHECK(contains(
        errors("kernel void f(device int *a [[buffer(1)]],\n  device int *b [[buffer(1)]]) {}"),
        "program_source:2:15: error: 'b' has the same place as 'a': [[buffer(1)]]\n"));
    CHECK_TEXT(errors_in("threadgroup uint giant[1ul << 30]; giant[uint(x[0].x)] = 1;\n"
                         "threadgroup_barrier(mem_flags::mem_threadgroup); x[0] = giant[3];"),
               "program_source: error: the threadgroup variables of all kernels take 4294967296 "
               "bytes together\n");
}

static std::string errors_of_call(const std::string &functions, const std::string &statement) {
    return errors(functions +
                  "\nkernel void f(device float *x [[buffer(0)]],\n"
                  "    constant float &c [[buffer(1)]]) {\n" +
                  statement + "\n}\n");
}

// Address spaces are erased before clang sees the text.
static void pointers_that_change_their_address_space() {
    CHECK_TEXT(errors_of_call("void g(int n, threadgroup float *p) {}", "    g(1, x);"),
               "program_source:4:10: error: 'x' points to the address space 'device': it cannot "
               "become a pointer to 'threadgroup'\n"
               "    g(1, x);\n"
               "         ^\n");
    CHECK(
        contains(errors_of_call("void g(threadgroup float &p) {}", "g(x[2]);"), "4:3: error: 'x'"));
    CHECK(contains(errors_of_call("void g(thread float &p) {}", "g(x[2]);"),
                   "4:3: error: 'x' lies in the address space 'device'"));
    CHECK(contains(errors_of_call("void g(float &p) {}", "g(x[2]);"), "4:3: error: 'x' lies in"));
    CHECK(contains(errors_of_call("", "float y = *(float *)x;"), "error: 'x' points to the"));
    CHECK(contains(errors_of_call("", "threadgroup float y[2]; if (x == y) { }"),
                   "'y' points to the address space 'threadgroup'"));
    CHECK(contains(errors_of_call("void g(device const float *p) {}", "g(&c);"),
                   "4:4: error: 'c' lies in the address space 'constant'"));
    CHECK(contains(errors_of_call("threadgroup float *g(device float *p) { return p; }", ""),
                   "1:48: error: 'p' points to"));
    CHECK(contains(errors_of_call("struct S { threadgroup float *p; };", "S s; s.p = x + 1;"),
                   "4:12: error: 'x' points to"));
}

static void changed_spaces_of_any_kind() {
    const std::string functions =
        "struct S { device float *p; };\n"
        "struct N { S s; int n; };\n"
        "struct C { device float *p; C(device float *q) : p(q) {} void m(device float *q) {} };\n"
        "template <typename T> struct P { device T *p; P(device T *q) : p(q) {} };\n"
        "void take(device float *p) {}\n"
        "void refer(device float &r) {}\n"
        "template <typename T> void deduce(int n, device T *p) {}\n"
        "template <typename T> void inside(T p) { threadgroup float *q = p; }\n"
        "typedef device float *Pointer;\n";
    const std::pair<const char *, const char *> statements[] = {
        {"S s{&own};", "14:6: error: 'own' lies in the address space 'thread': it cannot become a "
                       "pointer to 'device'"},
        {"S s = {cells};", "14:8: error: 'cells' points to the address space 'threadgroup'"},
        {"N n{{&own}, 1};", "'own' lies in the address space 'thread'"},
        {"N n = {.s = {.p = cells}};", "'cells' points to"},
        {"device float *p = &own;", "14:20: error: 'own' lies in the address space 'thread'"},
        {"threadgroup float *p = &own;", "a pointer to 'threadgroup'"},
        {"constant float *p = &own;", "a pointer to 'constant'"},
        {"device float *p = row;", "'row' points to the address space 'thread'"},
        {"threadgroup float *p = x[0] > 1 ? x : x + 1;", "'device': it cannot become"},
        {"device float *p = x[0] > 1 ? x : cells;", "address space 'threadgroup'"},
        {"device half *p = (device half *)cells;", "33: error: 'cells' points to"},
        {"device float *p = (threadgroup float *)cells;", "'threadgroup'"},
        {"thread half *p = reinterpret_cast<thread half *>(x);", "'device'"},
        {"auto a = x; threadgroup float *p = a;", "36: error: 'a' points to the address space"},
        {"device float &r = own;", "'own' lies in the address space 'thread'"},
        {"device float *all[2] = {x, cells};", "'cells' points to"},
        {"take(&own);", "'own' lies in"},
        {"take(cells);", "'cells' points to"},
        {"refer(own);", "'own' lies in the address space 'thread'"},
        {"deduce(1, row);", "11: error: 'row' points to the address space 'thread'"},
        {"inside(x);", "'p' points to the address space 'device'"},
        {"C c(&own);", "'own' lies in"},
        {"C c(x); c.m(cells);", "'cells' points to"},
        {"P<float> p{row};", "'row' "},
        {"Pointer p = cells;", "'cells' points to"},
        {"auto l = [&]() { device float *p = &own; };", "'own' lies in"},
        {"auto l = [](device float *p) {}; l(cells);", "'cells' points to"},
        {"device float4 *p = &vector;", "'vector' lies in"},
        {"thread float *p = x;", "'x' points to the address space 'device'"},
    };
    for (const auto &[statement, message] : statements) {
        const std::string said =
            errors("#include <metal_stdlib>\nusing namespace metal;\n" + functions +
                   "kernel void f(device float *x [[buffer(0)]]) {\n"
                   "float own, row[3]; float4 vector; threadgroup float cells[4];\n" +
                   statement + "\n}\n");
        if (!contains(said, message)) check_text(said, message, __FILE__, __LINE__);
    }
    CHECK(contains(errors("struct D { float own; device float *p = &own; };\n"
                          "kernel void f() { D d; }\n"),
                   "1:42: error: 'own' lies in the address space 'thread'"));
    CHECK(contains(errors("template <typename T> kernel void f(device T *x [[buffer(0)]]) {\n"
                          "    T own = 1;\n    x = &own;\n}\n"
                          "template [[host_name(\"f\")]] kernel void f<float>(device float *x);\n"),
                   "3:10: error: 'own' lies in the address space 'thread'"));
}

// What looks like a change and is none.
static void spaces_that_stay() {
    const Request fine(
        "#include <metal_stdlib>\nusing namespace metal;\n"
        "struct S { float a[4]; float first() const { return a[0]; }\n"
        "    device float *rows() device { return a; } };\n"
        "template <typename T> T load(const device T *p) { return *p; }\n"
        "template <typename T> T load(const threadgroup T *p) { return *p; }\n"
        "template <typename T> struct Op { T operator()(T a, T b) { return a + b; } };\n"
        "S pass(S s) { return s; }\n"
        "float of(const thread S &s) { return s.a[0]; }\n"
        "constant float TABLE[2] = {1, 2};\n"
        "constant char TEXT[] = \"text\";\n"
        "kernel void f(device float *x [[buffer(0)]], device S *s [[buffer(1)]],\n"
        "              constant S &c [[buffer(2)]], device float4 *v [[buffer(3)]],\n"
        "              device atomic_uint *n [[buffer(4)]]) {\n"
        "    threadgroup float4 cells[8]; float own[2]; device float *none = nullptr;\n"
        "    S copy = *s, other = c, third = pass(s[1]); s[0] = copy; cells[0] = v[0];\n"
        "    device char *bytes = (device char *)x + 4; x = (device float *)bytes;\n"
        "    device float *zero = (device float *)0; constant float *t = TABLE;\n"
        "    device float *row = s[0].a; thread float *mine = copy.a; row = s->rows();\n"
        "    v[1] = load(v) + load(cells + 1); float w = v[0].x, u = Op<float>()(x[0], own[1]);\n"
        "    device const float4 *same = v; threadgroup float *flat = (threadgroup float *)cells;\n"
        "    atomic_fetch_add_explicit(n, 1u, memory_order_relaxed); auto a = x; a[0] = of(copy);\n"
        "    x[0] = copy.first() + other.a[0] + third.a[1] + w + u + t[0] + same[0].y + flat[1];\n"
        "}\n");
    msl_library *library = fine.compile();
    CHECK(library);
    msl_library_release(library);
}

static void attributes_with_a_mistake() {
    const auto errors_of = [](const std::string &attribute) {
        return errors("kernel void f(device int *x " + attribute +
                      ",\n    device int *y [[buffer(1)]]) {\n    x[0] = y[0];\n}\n");
    };
    CHECK_TEXT(errors_of("[[buffer(0]]"),
               "program_source:1:39: error: expected ')' in these attributes\n"
               "kernel void f(device int *x [[buffer(0]],\n"
               "                                      ^\n");
    CHECK(contains(errors_of("[[buffer(0))]]"), "program_source:1:"));
    CHECK(contains(errors_of("[[buffer(0)"), "program_source:"));
    for (const char *attribute : {"[[buffer]]", "[[buffer()]]"}) {
        CHECK(contains(errors_of(attribute),
                       "1:31: error: 'x' has an attribute without its index\n"));
    }
    CHECK(contains(errors("kernel void f(uint i [[position_in_the_grid]]) {}"),
                   "1:20: error: parameter 'i' of kernel 'f' has no attribute that gives it a "
                   "value; unknown: 'position_in_the_grid'\n"));
}

static void functions_that_call_themselves() {
    CHECK_TEXT(errors("int f(int n) {\n    return n > 0 ? f(n - 1) : 0;\n}\n"
                      "kernel void k(device int *x [[buffer(0)]]) { x[0] = f(x[1]); }\n"),
               "program_source:2:20: error: recursive function call: functions of the Metal "
               "Shading Language cannot call themselves, not even through others\n"
               "    return n > 0 ? f(n - 1) : 0;\n"
               "                   ^\n");
    const std::string calls = "kernel void k(device int *x [[buffer(0)]]) { x[0] = f(x[1]); }\n";
    CHECK(contains(errors("int g(int n);\nint f(int n) { return g(n); }\n"
                          "int g(int n) { return n ? f(n - 1) : 1; }\n" +
                          calls),
                   "2:23: error: recursive function call"));
    CHECK(contains(errors("template <class T> T r(T n) { return n > 0 ? r(n - 1) : n; }\n"
                          "int f(int n) { return r(n); }\n" +
                          calls),
                   "1:46: error: recursive function call"));
    const Request fine("int g(float n) { return 1; }\nint g(int n) { return g(float(n)); }\n"
                       "template <int N> int h() {\n"
                       "    if constexpr (N > 0) return h<N - 1>(); else return 0;\n}\n"
                       "int f(int n) { return g(n) + h<3>(); }\n" +
                       calls);
    msl_library *library = fine.compile();
    CHECK(library);
    msl_library_release(library);
    // Each calls the other with values for which that does not call back.
    const std::string small_and_large =
        "#include <metal_stdlib>\ntemplate <class T> float large(T x);\n"
        "template <class T> float small(T x) {\n"
        "    return x >= 12.0 ? metal::exp(large(x)) : x * x;\n}\n"
        "template <class T> float large(T x) {\n"
        "    return x < 12.0 ? metal::log(small(x)) : x;\n}\n"
        "kernel void k(device float *x [[buffer(0)]]) { x[0] = large(x[1]) + small(x[2]); }\n";
    library = Request(small_and_large).compile();
    CHECK(library);
    msl_library_release(library);
}

static void variables_that_outlive_a_kernel() {
    CHECK_TEXT(errors("static float2 sums[2];\n"),
               "program_source:1:15: error: program scope variable must reside in constant address "
               "space\n"
               "static float2 sums[2];\n"
               "              ^\n");
    for (const char *text :
         {"int n = 0;", "threadgroup float n[4];", "namespace inner { device int *n; }",
          "template <class T> T n = 1;", "struct { int x; } n;", "struct S { int x; } n[2];",
          "enum { A } n;", "enum class E : uint { A } n;", "namespace a { union { int x; } n; }",
          "struct alignas(16) S { int x; } *n;", "int (*n)[4];", "int n(3);", "inline int n{3}, m;",
          "constant int T[1] = {1}; constant int *n = T;", "device const int *n;"}) {
        CHECK(contains(errors(text), "error: program scope variable must reside in constant"));
    }
    for (const char *text :
         {"void f() { static int n = 0; n++; }", "struct S { static int n; };",
          "void f() { static struct { int x; } n; }", "void f() { int static n; }",
          "template <class T> struct S { inline static T n = 0; };",
          "void f() { static int (*n)[2]; }"})
        CHECK(contains(errors(text), "error: static local variable must reside in constant"));
    const Request fine(
        "constant int T[2] = {1, 2}; template <class N> constexpr N zero = N(0); const int Z = 1;\n"
        "static constexpr int W = 2; enum class E : uint { a }; enum { B = 3 }; using I = int;\n"
        "struct S { static constexpr int n = 4; static int m() { return 1; } int own; };\n"
        "enum O : uint; enum class P : unsigned int; struct Q : S { int v; };\n"
        "struct F; typedef struct { int a; } G; static inline S make(); union U { int a; };\n"
        "struct K { int b; }; struct K g(K x) { return x; } constant struct H { int a; } ONE = "
        "{1}; int h(int);\n"
        "constant int *constant R = T; constant int (&FIRST)[2] = T; struct H made() { return {}; "
        "}\n"
        "constant struct { int a; } N = {1}; constant S TWO{2}; constant static const int V = 1;\n"
        "int f(int x) { static constant int q = 3; constexpr int w = 2; threadgroup int t;\n"
        "    static constexpr int e = 5; const static int c = 6; return q + w + e + c; }\n");
    msl_library *library = fine.compile();
    CHECK(library);
    msl_library_release(library);
}

static void overloads_and_templates_take_any_address_space() {
    const Request request("void g(threadgroup float *p) {}\nvoid g(device float *p) {}\n"
                          "template <typename T> void h(T p) {}\nvoid g(int a, int b) {}\n"
                          "void k(device float *p, int n = 2) {}\n"
                          "kernel void f(device float *x [[buffer(0)]], constant float &c) {\n"
                          "    threadgroup float y[2]; g(y); g(x); h(y); h(&c); k(x);\n"
                          "    auto g = [](threadgroup float *p) { return p; }; g(y);\n}\n");
    msl_library *library = request.compile();
    CHECK(library);
    msl_library_release(library);
}

// The undeclared names have one character: of longer ones, newer versions of clang underline all.
static void places_in_the_users_text() {
    CHECK_TEXT(errors_in("\tx[0]  =  1.0 +   z; /* why */  y();"),
               "program_source:4:19: error: use of undeclared identifier 'z'\n"
               "\tx[0]  =  1.0 +   z; /* why */  y();\n"
               "\t                 ^\n"
               "program_source:4:33: error: use of undeclared identifier 'y'\n"
               "\tx[0]  =  1.0 +   z; /* why */  y();\n"
               "\t                               ^\n");
    CHECK_TEXT(errors_in("    x[0] = 1.0h * 2.0"),
               "program_source:4:22: error: expected ';' after expression\n"
               "    x[0] = 1.0h * 2.0\n"
               "                     ^\n"
               "                     ;\n");
    CHECK_TEXT(errors_in("    threadgroup floot s[3];"),
               "program_source:4:17: error: unknown type name 'floot'; did you mean 'float'?\n"
               "    threadgroup floot s[3];\n"
               "                ^~~~~\n"
               "                float\n");
    // What clang would write instead, and Metal does not have.
    for (const char *statement :
         {"row_elemnts<float> y;", "builtin_memcpy(x, x, 1);", "thread_lcal int y;", "nex(x);"}) {
        CHECK(!contains(errors_in(statement), "did you mean"));
    }
    CHECK(contains(
        errors("#define BAD(a) missing_##a\nkernel void f() { int x =  BAD(thing) + 3; }\n"),
        "program_source:2:28: error: use of undeclared identifier 'missing_thing'\n"));
    CHECK(contains(errors("#line 70 \"other.metal\"\nkernel void f() { oops; }\n"),
                   "other.metal:70:19: error: use of undeclared identifier 'oops'\n"));
}

static void names_of_the_users() {
    CHECK(contains(errors_in("half4 h = x[0];"),
                   "4:7: error: no viable conversion from 'float4' to 'half4'\n"));
    CHECK(contains(errors_in("x[0] = x[0] + half4(1);"),
                   "error: invalid operands to binary expression ('float4' and 'half4')\n"));
    CHECK(contains(errors_in("x[0].xx = float2(1);"),
                   "error: vector is not assignable (contains duplicate components)\n"));
    CHECK(contains(errors_in("float y = x[0].q;"), "error: no member named 'q' in 'float4'\n"));
    CHECK(contains(errors_in("x[0] = as_type<float4>(1.0f);"),
                   "4:8: error: no matching function for call to 'as_type'\n"));
    CHECK(contains(errors_in("metal::mem_flagz y;"), "'mem_flags'?\n"));
}

static void notes_of_the_users() {
    const std::string message = errors("template <typename T> T twice(T x) { return x.foo; }\n"
                                       "kernel void f(device float *x [[buffer(0)]]) {\n"
                                       "    x[0] = twice(x[0]);\n}\n");
    CHECK_TEXT(message,
               "program_source:1:46: error: member reference base type 'float' is not a structure "
               "or union\n"
               "template <typename T> T twice(T x) { return x.foo; }\n"
               "                                            ~^~~~\n"
               "program_source:3:12: note: in instantiation of function template specialization "
               "'twice<float>' requested here\n"
               "    x[0] = twice(x[0]);\n"
               "           ^\n");
}

static void kernels_that_cannot_be_called() {
    CHECK_TEXT(errors("kernel void f(device float *x [[buffer(0)]], uint n) { x[0] = n; }"),
               "program_source:1:51: error: parameter 'n' of kernel 'f' has no attribute that "
               "gives it a value\n"
               "kernel void f(device float *x [[buffer(0)]], uint n) { x[0] = n; }\n"
               "                                                  ^\n");
    CHECK(contains(errors("\nkernel void f(device float *x [[buffer(31)]]) {}"),
                   "program_source:2:40: error: argument indices go from 0 to 30\n"));
    CHECK(contains(errors("kernel void f(float x [[buffer(0)]]) {}"),
                   "program_source:1:21: error: a bound parameter is a pointer or a reference\n"));
    CHECK(contains(errors("kernel int f() { return 1; }"), "error: a kernel returns void\n"));
    CHECK(
        contains(errors("template <typename T> kernel void f(device T *x) {}\n"
                        "template [[host_name(\"a\")]] kernel void f<nothing>(device nothing *x);"),
                 "program_source:2:41: error: use of undeclared identifier 'nothing'\n"));
    CHECK(contains(
        errors("float helper(float x);\nkernel void f(device float *x) { *x = helper(1); }"),
        "error: function 'helper(float)' is called and nowhere defined\n"));
    // One mistake, one message.
    CHECK_TEXT(errors("kernel void f() {\n    int x = y;\n}\n"),
               "program_source:2:13: error: use of undeclared identifier 'y'\n"
               "    int x = y;\n"
               "            ^\n");
}

static void pointers_between_address_spaces() {
    CHECK_TEXT(
        errors_in("threadgroup float s[4];\n    device float *p = s;"),
        "program_source:5:23: error: 's' points to the address space 'threadgroup': it cannot "
        "become a pointer to 'device'\n"
        "    device float *p = s;\n"
        "                      ^\n");
    CHECK(contains(errors_in("threadgroup float4 *p = x + 1;"), "'x' points to the address space"));
    CHECK(contains(errors_in("threadgroup float4 *p; p = x;"), "a pointer to 'threadgroup'"));
    CHECK(contains(errors_in("threadgroup uint *p = (threadgroup uint *)x;"), "to 'threadgroup'"));
    const Request fine("void g(device float *p, int n) {\n"
                       "    { threadgroup float q[2]; threadgroup float *s = q; s[0] = 1; }\n"
                       "    { device float *q = p + n; device float *s = q; *s = p[1]; }\n"
                       "    float v = p[0]; thread float *own = &v; own[0] = v;\n}\n");
    msl_library *library = fine.compile();
    CHECK(library);
    msl_library_release(library);
}

static void what_this_device_does_not_have() {
    CHECK_TEXT(
        errors("kernel void f(texture2d<float> t [[texture(0)]]) {}", MSL_FAILURE_UNSUPPORTED),
        "program_source:1:15: error: 'texture2d': this device does not support textures\n"
        "kernel void f(texture2d<float> t [[texture(0)]]) {}\n"
        "              ^\n");
    const std::pair<const char *, const char *> others[] = {
        {"constexpr sampler s(1);", "samplers"},
        {"vertex float4 v() { return 0; }", "render stages"},
        {"[[fragment]] float4 v() { return 0; }", "render stages"},
        {"struct A { int x [[id(0)]]; };", "argument buffers"},
        {"void f(instance_acceleration_structure a) {}", "ray tracing"},
        {"[[visible]] int f() { return 1; }", "function tables"}};
    for (const auto &[text, what] : others)
        CHECK(contains(errors(text, MSL_FAILURE_UNSUPPORTED), what));
    const Request fine(
        "struct A { int sampler, vertex, object; }; int f(A a) { return a.sampler; }");
    msl_library *library = fine.compile();
    CHECK(library);
    msl_library_release(library);
}

static void text_of_any_kind() {
    for (const std::string &source :
         {std::string("}}} kernel ((( [[ threadgroup"), std::string("kernel void f() {"),
          std::string("\0\x01\xff\xfe", 4), std::string("\"unterminated"), std::string("#if 1\n"),
          std::string(3000, '('), "kernel void f() { " + std::string(30000, '+') + "; }"}) {
        CHECK(!errors(source).empty());
    }
    const Request empty("");
    msl_library *library = empty.compile();
    CHECK(library && msl_library_kernel_count(library) == 0);
    msl_library_release(library);
}

int main() {
    const CompilerFolders folders;
    missing_headers();
    headers_outside_ours_are_missing();
    a_byte_order_mark_is_no_text();
    what_no_kernel_can_have();
    pointers_that_change_their_address_space();
    changed_spaces_of_any_kind();
    spaces_that_stay();
    attributes_with_a_mistake();
    functions_that_call_themselves();
    variables_that_outlive_a_kernel();
    overloads_and_templates_take_any_address_space();
    places_in_the_users_text();
    names_of_the_users();
    notes_of_the_users();
    kernels_that_cannot_be_called();
    pointers_between_address_spaces();
    what_this_device_does_not_have();
    text_of_any_kind();
}
