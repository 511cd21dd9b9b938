/* Libraries: compile options, Metal's own words after a failure, and precompiled files. */
#include "bridge_test.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const fm_compile_options DEFAULTS = {0};

static fm_status compile(const char *source, const fm_compile_options *options, fm_library **out) {
    return fm_library_compile(device, source, strlen(source), options, out, &error);
}

/* Runs the kernel `name` of `source` on one thread; argument 0 is the result. */
static float result_of(const char *source, const fm_compile_options *options, const char *name) {
    fm_library *compiled = NULL;
    fm_pipeline *pipeline = NULL;
    float result = -1;
    if (!CHECK(compile(source, options, &compiled) == FM_OK)) return result;
    if (CHECK(fm_pipeline_create(device, compiled, name, NULL, 0, &pipeline, &error) == FM_OK)) {
        fm_buffer *out = new_buffer(sizeof result);
        fm_encoder *encoder = new_encoder();
        const fm_argument argument = {.index = 0, .buffer = out};
        const fm_dispatch dispatch = {.pipeline = pipeline,
                                      .arguments = &argument,
                                      .argument_count = 1,
                                      .grid = {1, 1, 1},
                                      .threads_per_threadgroup = {1, 1, 1}};
        CHECK(fm_encoder_begin(encoder, NULL, -1, &error) == FM_OK);
        CHECK(fm_encoder_dispatch(encoder, &dispatch, &error) == FM_OK);
        CHECK(fm_encoder_commit(encoder, &error) == FM_OK);
        CHECK(fm_encoder_wait(encoder, -1, &error) == FM_OK);
        result = *(const float *)fm_buffer_contents(out);
        fm_encoder_release(encoder);
        fm_buffer_release(out);
    }
    fm_pipeline_release(pipeline);
    fm_library_release(compiled);
    return result;
}

static void a_compile_error_is_metals_own(void) {
    fm_library *compiled = NULL;
    CHECK(fails(compile("kernel void k() {\n  missing_name = 1;\n}\n", &DEFAULTS, &compiled),
                FM_COMPILATION_FAILED, "program_source:2:3: error:"));
    CHECK(strstr(error.message, "missing_name"));
    CHECK(error.code == 3 && strcmp(error.domain, "MTLLibraryErrorDomain") == 0);
    CHECK(!compiled);
}

static void a_long_message_is_not_shortened(void) {
    enum { LINES = 12, NAME = 900 };
    char *source = calloc(LINES, NAME + 40), *at = source;
    fm_library *compiled = NULL;
    for (int i = 0; i < LINES; i++) {
        at += sprintf(at, "int value%d = name%d_", i, i);
        memset(at, 'x', NAME);
        at += NAME;
        at += sprintf(at, "_end%d;\n", i);
    }
    CHECK(fails(compile(source, &DEFAULTS, &compiled), FM_COMPILATION_FAILED, "x_end0"));
    CHECK(strstr(error.message, "x_end11"));
    free(source);
}

static void a_refusal_of_metal_is_an_error(void) {
    fm_library *compiled = NULL;
    CHECK(host->faults("library") == 1);
    CHECK(fails(compile("kernel void k() {}", &DEFAULTS, &compiled), FM_COMPILATION_FAILED, ""));
    CHECK(!compiled);
    CHECK(compile("kernel void k() {}", &DEFAULTS, &compiled) == FM_OK);
    fm_library_release(compiled);
}

static void a_source_is_utf_8_of_the_given_length(void) {
    static const char BAD[] = "kernel void k() {} // \xff", CUT[] = "kernel void k() {} garbage";
    fm_library *compiled = NULL;
    CHECK(fails(compile(BAD, &DEFAULTS, &compiled), FM_INVALID_ARGUMENT, "not valid UTF-8"));
    CHECK(!compiled);
    CHECK(fm_library_compile(device, CUT, strlen("kernel void k() {}"), &DEFAULTS, &compiled,
                             &error) == FM_OK);
    fm_library_release(compiled);
}

static void macros_reach_the_source(void) {
    static const char SOURCE[] =
        "kernel void k(device float *out [[buffer(0)]]) { out[0] = FIRST + SECOND; }\n";
    const fm_macro macros[] = {{"FIRST", "40.0f"}, {"SECOND", "2.0f"}};
    const fm_macro bad[] = {{"FIRST", "\xff"}, {"SECOND", "2.0f"}};
    fm_compile_options options = {.macros = macros, .macro_count = LENGTH(macros)};
    fm_library *compiled = NULL;
    CHECK(result_of(SOURCE, &options, "k") == 42);
    CHECK(fails(compile(SOURCE, &DEFAULTS, &compiled), FM_COMPILATION_FAILED, "FIRST"));
    options.macros = bad;
    CHECK(fails(compile(SOURCE, &options, &compiled), FM_INVALID_ARGUMENT, "value of a macro"));
    CHECK(!compiled);
}

static float result_in(const char *source, fm_math_mode mode) {
    return result_of(source, &(fm_compile_options){.math_mode = mode}, "k");
}

static void math_modes_reach_the_compiler(void) {
    static const char SUM[] = "kernel void k(device float *out [[buffer(0)]]) {\n"
                              "    float small = out[0] + 1.0f, large = out[0] + 1e8f;\n"
                              "    out[0] = (small + large) - large;\n"
                              "}\n";
    static const char IS_NAN[] = "kernel void k(device float *out [[buffer(0)]]) {\n"
                                 "    float quotient = out[0] / out[0];\n"
                                 "    out[0] = quotient == quotient ? 0.0f : 1.0f;\n"
                                 "}\n";
    CHECK(result_in(SUM, FM_MATH_SAFE) == 0);
    CHECK(result_in(SUM, FM_MATH_RELAXED) == 1);
    CHECK(result_in(SUM, FM_MATH_FAST) == 1);
    CHECK(result_in(IS_NAN, FM_MATH_SAFE) == 1);
    CHECK(result_in(IS_NAN, FM_MATH_RELAXED) == 1);
}

static void the_language_version_reaches_the_source(void) {
    static const char SOURCE[] =
        "kernel void k(device float *out [[buffer(0)]]) { out[0] = __METAL_VERSION__; }\n";
    CHECK(result_of(SOURCE, &(fm_compile_options){.language_version = 3 << 16}, "k") == 300);
    CHECK(result_of(SOURCE, &(fm_compile_options){.language_version = 3 << 16 | 1}, "k") == 310);
}

static void a_newer_language_is_refused(void) {
    const fm_compile_options options = {.language_version = 99 << 16 | 1};
    fm_library *compiled = NULL;
    CHECK(fails(compile("", &options, &compiled), FM_UNSUPPORTED, "99.1"));
    CHECK(!compiled);
}

static void an_empty_source_is_an_empty_library(void) {
    fm_library *compiled = NULL;
    fm_pipeline *pipeline = NULL;
    CHECK(compile("", &DEFAULTS, &compiled) == FM_OK);
    CHECK(fails(fm_pipeline_create(device, compiled, "k", NULL, 0, &pipeline, &error),
                FM_COMPILATION_FAILED, "k"));
    fm_library_release(compiled);
}

static void a_file_that_is_no_library_is_an_error(void) {
    char path[] = "/tmp/bridge_library_XXXXXX";
    fm_library *opened = NULL;
    int file = mkstemp(path);
    CHECK(file >= 0 && write(file, "not a library", 13) == 13 && close(file) == 0);
    CHECK(fails(fm_library_open(device, path, &opened, &error), FM_IO_FAILED, ""));
    CHECK(unlink(path) == 0);
    CHECK(fails(fm_library_open(device, path, &opened, &error), FM_IO_FAILED, ""));
    CHECK(fails(fm_library_open(device, "\xff", &opened, &error), FM_INVALID_ARGUMENT, "path"));
    CHECK(!opened);
}

int main(void) {
    static const bridge_case CASES[] = {
        {"a compile error is Metal's own", a_compile_error_is_metals_own},
        {"a long message is not shortened", a_long_message_is_not_shortened},
        {"a refusal of Metal is an error", a_refusal_of_metal_is_an_error},
        {"a source is UTF-8 of the given length", a_source_is_utf_8_of_the_given_length},
        {"macros reach the source", macros_reach_the_source},
        {"math modes reach the compiler", math_modes_reach_the_compiler},
        {"the language version reaches the source", the_language_version_reaches_the_source},
        {"a newer language is refused", a_newer_language_is_refused},
        {"an empty source is an empty library", an_empty_source_is_an_empty_library},
        {"a file that is no library is an error", a_file_that_is_no_library_is_an_error},
    };
    return run_cases(CASES, LENGTH(CASES));
}
