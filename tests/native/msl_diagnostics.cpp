// What a host is told about text that does not compile: the user's lines, columns and names.
#include "msl_request.h"

#include <filesystem>
#include <fstream>

static std::string errors(const std::string &source, int wanted = MSL_FAILURE_SOURCE) {
    std::string message;
    int kind = 0;
    const Request request(source);
    CHECK(!request.compile(&message, &kind));
    CHECK(kind == wanted);
    for (const char *internal : {"__msl", "_Float16", "metal_stdlib", MSL_HEADERS, "<kernels>",
                                 "thread_local", "[...]", "generated."}) {
        if (contains(message, internal)) check_text(message, internal, __FILE__, __LINE__);
    }
    return message;
}

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
                   "            ^\n");
    const std::filesystem::path before = std::filesystem::current_path();
    std::filesystem::current_path(folder.path());
    CHECK(contains(errors("#include \"own.h\"\n"),
                   "program_source:1:10: fatal error: 'own.h' file not found\n"));
    std::filesystem::current_path(before);
}

static void a_byte_order_mark_is_no_text() {
    CHECK(contains(errors("\xef\xbb\xbfkernel void f() { oops; }\n"),
                   "program_source:1:19: error: use of undeclared identifier 'oops'\n"));
}

static void what_no_kernel_can_have() {
    CHECK(contains(errors_in("throw 1;"),
                   "program_source:4:1: error: cannot use 'throw' with exceptions disabled\n"));
    CHECK_TEXT(errors_in("threadgroup uint giant[1ul << 30]; giant[uint(x[0].x)] = 1;\n"
                         "threadgroup_barrier(mem_flags::mem_threadgroup); x[0] = giant[3];"),
               "program_source: error: the threadgroup variables of all kernels take 4294967296 "
               "bytes together\n");
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
                   "program_source:2:13: error: argument indices go from 0 to 30\n"));
    CHECK(contains(errors("kernel void f(float x [[buffer(0)]]) {}"),
                   "program_source:1:13: error: a bound parameter is a pointer or a reference\n"));
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
    places_in_the_users_text();
    names_of_the_users();
    notes_of_the_users();
    kernels_that_cannot_be_called();
    pointers_between_address_spaces();
    what_this_device_does_not_have();
    text_of_any_kind();
}
