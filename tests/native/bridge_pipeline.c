/* Pipelines: function constants, what reflection says of the arguments, and refusals. */
#include "bridge_test.h"
#include <stdlib.h>
#include <string.h>

static const char SOURCE[] =
    "#include <metal_stdlib>\n"
    "using namespace metal;\n"
    "constant bool twice [[function_constant(0)]];\n"
    "constant int addend [[function_constant(1)]];\n"
    "constant bool thrice = !twice;\n"
    "struct Parameters { uint2 pair; uchar last; };\n"
    "kernel void reflected(device const float4 *in [[buffer(0)]],\n"
    "                      device half *out [[buffer(3)]],\n"
    "                      constant Parameters &parameters [[buffer(7)]],\n"
    "                      device const float *unused [[buffer(9)]],\n"
    "                      threadgroup float *shared [[threadgroup(2)]],\n"
    "                      uint i [[thread_position_in_grid]]) {\n"
    "    threadgroup float fixed[256];\n"
    "    fixed[i] = shared[i] = in[i].x;\n"
    "    threadgroup_barrier(mem_flags::mem_threadgroup);\n"
    "    out[i] = half(shared[0] + fixed[parameters.pair.x]);\n"
    "}\n"
    "kernel void constants(device int *out [[buffer(0)]]) {\n"
    "    out[0] = (twice ? 2 : 1) * 100 + addend;\n"
    "}\n"
    "kernel void either(device int *out [[buffer(0)]],\n"
    "                   constant int4 &pairs [[buffer(1), function_constant(twice)]],\n"
    "                   constant short &triples [[buffer(1), function_constant(thrice)]]) {\n"
    "    if (twice) out[0] = pairs.w;\n"
    "    if (thrice) out[0] = triples;\n"
    "}\n";

static fm_library *kernels(void) {
    const fm_compile_options options = {0};
    fm_library *compiled = NULL;
    CHECK(fm_library_compile(device, SOURCE, strlen(SOURCE), &options, &compiled, &error) == FM_OK);
    return compiled;
}

static int run_constants(fm_library *compiled, const fm_constant *constants, size_t count) {
    fm_pipeline *pipeline = NULL;
    fm_buffer *out = new_buffer(sizeof(int));
    fm_encoder *encoder = new_encoder();
    CHECK(fm_pipeline_create(device, compiled, "constants", constants, count, &pipeline, &error) ==
          FM_OK);
    const fm_argument argument = {.index = 0, .buffer = out};
    const fm_dispatch dispatch = {.pipeline = pipeline,
                                  .arguments = &argument,
                                  .argument_count = 1,
                                  .grid = {1, 1, 1},
                                  .threads_per_threadgroup = {1, 1, 1}};
    CHECK(fm_encoder_begin(encoder, NULL, -1, &error) == FM_OK);
    CHECK(fm_encoder_dispatch(encoder, &dispatch, &error) == FM_OK);
    fm_pipeline_release(pipeline);
    CHECK(fm_encoder_commit(encoder, &error) == FM_OK);
    CHECK(fm_encoder_wait(encoder, -1, &error) == FM_OK);
    int result = *(const int *)fm_buffer_contents(out);
    fm_encoder_release(encoder);
    fm_buffer_release(out);
    return result;
}

static void constants_reach_the_kernel(void) {
    fm_library *compiled = kernels();
    const bool yes = true, no = false;
    const int32_t addend = -7;
    const fm_constant constants[] = {{0, FM_CONSTANT_BOOL, 1, &yes},
                                     {1, FM_CONSTANT_INT, 1, &addend},
                                     {0, FM_CONSTANT_BOOL, 1, &no}};
    CHECK(run_constants(compiled, constants, 2) == 193);
    CHECK(run_constants(compiled, constants + 1, 2) == 93);
    fm_library_release(compiled);
}

/* Whether each line is among those of `text`, in any order, and there are no more. */
static bool has_lines(const char *text, const char *const *lines, size_t count) {
    size_t length = 0;
    for (size_t i = 0; i < count; i++) {
        if (!strstr(text, lines[i])) return false;
        length += strlen(lines[i]);
    }
    return strlen(text) == length;
}

static void constants_are_told_with_their_types(void) {
    static const char *const LINES[] = {"0 bool twice\n", "1 int addend\n", "5 ushort3 tile\n"};
    static const char TEXT[] = "constant ushort3 tile [[function_constant(2 + 3)]];\n"
                               "constant bool twice [[function_constant(0)]];\n"
                               "constant int addend [[function_constant(1)]];\n"
                               "kernel void k() {}\n";
    const fm_compile_options options = {0};
    fm_library *compiled = NULL;
    if (CHECK(fm_library_compile(device, TEXT, strlen(TEXT), &options, &compiled, &error) ==
              FM_OK)) {
        const char *const functions[] = {"k", NULL, "no_such_kernel"};
        for (int i = 0; i < 3; i++) {
            char *text = fm_library_copy_constants(compiled, functions[i]);
            CHECK(text && has_lines(text, LINES, 3));
            free(text);
        }
    }
    fm_library_release(compiled);
    char *text = fm_library_copy_constants(library, "scale_add");
    CHECK(text && strcmp(text, "0 int factor\n") == 0);
    free(text);
}

static void reflection_tells_what_must_be_bound(void) {
    fm_library *compiled = kernels();
    fm_pipeline *pipeline = NULL;
    if (CHECK(fm_pipeline_create(device, compiled, "reflected", NULL, 0, &pipeline, &error) ==
              FM_OK)) {
        const fm_pipeline_info *info = fm_pipeline_get_info(pipeline);
        CHECK(info->declared == (1u << 0 | 1u << 3 | 1u << 7 | 1u << 9));
        CHECK(info->used == (1u << 0 | 1u << 3 | 1u << 7));
        CHECK(info->writable == 1u << 3);
        CHECK(info->threadgroup_declared == 1u << 2);
        CHECK(info->alignment[0] == 16 && info->alignment[3] == 2 && info->alignment[7] == 8);
        CHECK(info->size[0] == 16 && info->size[3] == 2 && info->size[7] == 16);
        CHECK(info->size[8] == 0 && info->size[9] == 0);
        CHECK(strcmp(info->name[0], "in") == 0 && strcmp(info->name[7], "parameters") == 0);
        CHECK(!info->name[8] && !info->name[9]);
        CHECK(info->static_threadgroup_memory == 1024);
        CHECK(info->simd_width == 32 && info->max_threads == 1024);
    }
    fm_pipeline_release(pipeline);
    fm_library_release(compiled);
}

static void size_and_name_are_of_the_argument_that_a_constant_leaves(void) {
    fm_library *compiled = kernels();
    for (int i = 0; i < 2; i++) {
        const bool twice = i != 0;
        const fm_constant constant = {0, FM_CONSTANT_BOOL, 1, &twice};
        fm_pipeline *pipeline = NULL;
        if (!CHECK(fm_pipeline_create(device, compiled, "either", &constant, 1, &pipeline,
                                      &error) == FM_OK))
            break;
        const fm_pipeline_info *info = fm_pipeline_get_info(pipeline);
        CHECK(info->size[1] == (twice ? 16u : 2u));
        CHECK(strcmp(info->name[1], twice ? "pairs" : "triples") == 0);
        fm_pipeline_release(pipeline);
    }
    fm_library_release(compiled);
}

static void a_smaller_device_has_smaller_pipelines(void) {
    const fm_device_options options = {.max_threads = 256};
    const fm_compile_options defaults = {0};
    fm_device *small = NULL;
    fm_library *compiled = NULL;
    fm_pipeline *pipeline = NULL;
    CHECK(fm_device_create(&options, &small, &error) == FM_OK);
    CHECK(fm_library_compile(small, SOURCE, strlen(SOURCE), &defaults, &compiled, &error) == FM_OK);
    if (CHECK(fm_pipeline_create(small, compiled, "reflected", NULL, 0, &pipeline, &error) ==
              FM_OK))
        CHECK(fm_pipeline_get_info(pipeline)->max_threads == 256);
    fm_pipeline_release(pipeline);
    fm_library_release(compiled);
    fm_device_release(small);
}

static void a_function_that_is_not_there_is_named(void) {
    fm_pipeline *pipeline = NULL;
    CHECK(fails(fm_pipeline_create(device, library, "no_such_kernel", NULL, 0, &pipeline, &error),
                FM_COMPILATION_FAILED, "no_such_kernel"));
    CHECK(strcmp(error.domain, "MTLLibraryErrorDomain") == 0);
    CHECK(fails(fm_pipeline_create(device, library, "\xff", NULL, 0, &pipeline, &error),
                FM_INVALID_ARGUMENT, "name of the function"));
    CHECK(!pipeline);
}

static void refusals_of_metal_are_errors(void) {
    const int32_t one = 1;
    const fm_constant factor = {0, FM_CONSTANT_INT, 1, &one};
    fm_pipeline *pipeline = NULL;
    CHECK(host->faults("function") == 1);
    CHECK(fails(fm_pipeline_create(device, library, "scale_add", &factor, 1, &pipeline, &error),
                FM_COMPILATION_FAILED, ""));
    CHECK(host->faults("pipeline") == 1);
    CHECK(fails(fm_pipeline_create(device, library, "scale_add", &factor, 1, &pipeline, &error),
                FM_COMPILATION_FAILED, ""));
    CHECK(!pipeline);
    CHECK(fm_pipeline_create(device, library, "scale_add", &factor, 1, &pipeline, &error) == FM_OK);
    fm_pipeline_release(pipeline);
}

static void a_pipeline_outlives_the_handle_of_its_library(void) {
    const bool no = false;
    const int32_t addend = 5;
    const fm_constant constants[] = {{0, FM_CONSTANT_BOOL, 1, &no},
                                     {1, FM_CONSTANT_INT, 1, &addend}};
    fm_library *compiled = kernels();
    fm_pipeline *pipeline = NULL;
    CHECK(fm_pipeline_create(device, compiled, "constants", constants, 2, &pipeline, &error) ==
          FM_OK);
    fm_library_release(compiled);
    CHECK(fm_pipeline_get_info(pipeline)->declared == 1);
    fm_pipeline_release(pipeline);
}

int main(void) {
    static const bridge_case CASES[] = {
        {"constants reach the kernel", constants_reach_the_kernel},
        {"constants are told with their types", constants_are_told_with_their_types},
        {"reflection tells what must be bound", reflection_tells_what_must_be_bound},
        {"size and name are of the argument that a constant leaves",
         size_and_name_are_of_the_argument_that_a_constant_leaves},
        {"a smaller device has smaller pipelines", a_smaller_device_has_smaller_pipelines},
        {"a function that is not there is named", a_function_that_is_not_there_is_named},
        {"refusals of Metal are errors", refusals_of_metal_are_errors},
        {"a pipeline outlives the handle of its library",
         a_pipeline_outlives_the_handle_of_its_library},
    };
    return run_cases(CASES, LENGTH(CASES));
}
