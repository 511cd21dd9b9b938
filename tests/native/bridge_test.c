#include "bridge_test.h"
#include <stdio.h>
#include <string.h>
#include <time.h>

fm_device *device;
fm_library *library;
fm_pipeline *scale_add, *count_threads;
const hm_control *host;
fm_error error;

static int failures;

static const char SOURCE[] =
    "#include <metal_stdlib>\n"
    "using namespace metal;\n"
    "constant int factor [[function_constant(0)]];\n"
    "struct Parameters { uint count; float addend; };\n"
    "kernel void scale_add(device const float *a [[buffer(0)]],\n"
    "                      device float *out [[buffer(1)]],\n"
    "                      constant Parameters &parameters [[buffer(2)]],\n"
    "                      uint i [[thread_position_in_grid]]) {\n"
    "    if (i < parameters.count) out[i] = a[i] * float(factor) + parameters.addend;\n"
    "}\n"
    "kernel void count_threads(device uint *out [[buffer(1)]],\n"
    "                          threadgroup uint *flags [[threadgroup(0)]],\n"
    "                          uint group [[threadgroup_position_in_grid]],\n"
    "                          uint thread_index [[thread_index_in_threadgroup]],\n"
    "                          uint threads [[threads_per_threadgroup]]) {\n"
    "    flags[thread_index] = 1;\n"
    "    threadgroup_barrier(mem_flags::mem_threadgroup);\n"
    "    if (thread_index != 0) return;\n"
    "    uint sum = 0;\n"
    "    for (uint i = 0; i < threads; i++) sum += flags[i];\n"
    "    out[group] = sum;\n"
    "}\n";

bool bridge_check(bool holds, const char *text, const char *file, int line) {
    if (!holds) {
        failures++;
        fprintf(stderr, "%s:%d: not so: %s (last error: %s)\n", file, line, text,
                error.message ? error.message : "none");
    }
    return holds;
}

bool fails(fm_status status, fm_status expected, const char *text) {
    bool so = status == expected && error.status == expected && error.message &&
              strstr(error.message, text);
    if (!so) fprintf(stderr, "status %d, expected %d and \"%s\"\n", status, expected, text);
    return so;
}

fm_buffer *new_buffer(size_t length) {
    fm_buffer *buffer = NULL;
    CHECK(fm_buffer_create(device, length, &buffer, &error) == FM_OK);
    return buffer;
}

fm_encoder *new_encoder(void) {
    fm_encoder *encoder = NULL;
    CHECK(fm_encoder_create(device, &encoder, &error) == FM_OK);
    return encoder;
}

fm_status dispatch_scale_add(fm_encoder *encoder, fm_buffer *a, fm_buffer *out,
                             scale_add_parameters parameters) {
    const fm_argument arguments[] = {
        {.index = 0, .buffer = a},
        {.index = 1, .buffer = out},
        {.index = 2, .bytes = &parameters, .length = sizeof parameters},
    };
    const fm_dispatch dispatch = {
        .pipeline = scale_add,
        .arguments = arguments,
        .argument_count = LENGTH(arguments),
        .grid = {(parameters.count + 63) / 64, 1, 1},
        .threads_per_threadgroup = {64, 1, 1},
    };
    fm_status status = fm_encoder_begin(encoder, NULL, -1, &error);
    return status != FM_OK ? status : fm_encoder_dispatch(encoder, &dispatch, &error);
}

void sleep_ms(int milliseconds) {
    const struct timespec duration = {milliseconds / 1000, milliseconds % 1000 * 1000000L};
    nanosleep(&duration, NULL);
}

static bool set_up(void) {
    const fm_compile_options options = {.math_mode = FM_MATH_RELAXED};
    const int32_t three = 3;
    const fm_constant factor = {0, FM_CONSTANT_INT, 1, &three};
    host = fm_host_control();
    host->set_headers(MSL_HEADERS);
    host->set_cache(MSL_CACHE);
    return CHECK(fm_device_create(NULL, &device, &error) == FM_OK) &&
           CHECK(fm_library_compile(device, SOURCE, strlen(SOURCE), &options, &library, &error) ==
                 FM_OK) &&
           CHECK(fm_pipeline_create(device, library, "scale_add", &factor, 1, &scale_add, &error) ==
                 FM_OK) &&
           CHECK(fm_pipeline_create(device, library, "count_threads", &factor, 1, &count_threads,
                                    &error) == FM_OK);
}

static void tear_down(void) {
    fm_pipeline_release(count_threads);
    fm_pipeline_release(scale_add);
    fm_library_release(library);
    fm_device_release(device);
}

static void check_live_objects(const char *name, long expected) {
    CHECK(host->quiesce(10000));
    long live = host->live_objects(NULL);
    if (CHECK(live == expected)) return;
    fprintf(stderr, "%s: %ld objects alive, %ld before\n", name, live, expected);
    host->dump_live_objects();
}

static void run_case(const bridge_case *one) {
    int before = failures;
    long live = host->live_objects(NULL);
    one->run();
    CHECK(host->faults(NULL) == 0);
    fm_error_clear(&error);
    check_live_objects(one->name, live);
    printf("%s: %s\n", failures == before ? "ok" : "FAILED", one->name);
}

int run_cases(const bridge_case *cases, size_t count) {
    hm_diagnostics diagnostics = {0};
    if (set_up())
        for (size_t i = 0; i < count; i++)
            run_case(&cases[i]);
    tear_down();
    check_live_objects("the program", 0);
    host->get_diagnostics(&diagnostics);
    CHECK(diagnostics.misuses == 0);
    CHECK(diagnostics.over_releases == 0);
    CHECK(diagnostics.poolless == 0);
    return failures != 0;
}
