#include "host_fakes.h"
#include "native.h"
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- kernels ---- */

typedef simt_fault_kind (*fake_function)(const simt_launch *launch, simt_fault *fault);

static simt_fault_kind add_one(const simt_launch *launch, simt_fault *fault) {
    (void)fault;
    int step = launch->buffers[1] ? *(const int *)launch->buffers[1] : 1;
    int *values = launch->buffers[0];
    for (uint32_t i = 0; i < launch->threads[0] * launch->threads[1] * launch->threads[2]; i++)
        values[i] += step;
    return SIMT_FAULT_NONE;
}

static simt_fault_kind fail(simt_fault *fault, simt_fault_kind kind, const char *message) {
    fault->kind = kind;
    snprintf(fault->message, sizeof fault->message, "%s", message);
    return kind;
}

static simt_fault_kind page_fault(const simt_launch *launch, simt_fault *fault) {
    (void)launch;
    return fail(fault, SIMT_FAULT_PAGE, "address 0x10 of no buffer");
}

static simt_fault_kind divergent(const simt_launch *launch, simt_fault *fault) {
    (void)launch;
    return fail(fault, SIMT_FAULT_DIVERGENT_BARRIER, "threads wait at different barriers");
}

static const msl_binding BINDINGS[] = {
    {"values", 0, MSL_BINDING_BUFFER, .used = 1, .writable = 1, .alignment = 4, .size = 4},
    {"step", 1, MSL_BINDING_BUFFER, .used = 0, .writable = 0, .alignment = 16, .size = 16},
    {"scratch", 0, MSL_BINDING_THREADGROUP_MEMORY, .used = 1, .writable = 1, .alignment = 8,
     .size = 8},
};

/* Says that a kernel is compiled; nothing calls it. */
static void entry(const msl_thread *self) {
    (void)self;
}

static const msl_kernel KERNELS[] = {
    {.name = "add_one",
     .entry = entry,
     .function = (void *)add_one,
     .binding_count = 2,
     .bindings = BINDINGS},
    {.name = "page_fault", .entry = entry, .function = (void *)page_fault, .bindings = BINDINGS},
    {.name = "divergent", .entry = entry, .function = (void *)divergent, .bindings = BINDINGS},
    {.name = "narrow",
     .entry = entry,
     .function = (void *)add_one,
     .max_threads = 64,
     .binding_count = 2,
     .bindings = BINDINGS},
    /* Compiled by function only. */
    {.name = "twin", .function = (void *)add_one, .binding_count = 2, .bindings = BINDINGS},
    {.name = "shared",
     .entry = entry,
     .function = (void *)add_one,
     .binding_count = 3,
     .bindings = BINDINGS},
};
enum { KERNEL_COUNT = sizeof KERNELS / sizeof KERNELS[0] };

/* ---- the compiler ---- */

struct msl_library {
    atomic_int references;
    size_t count;
    msl_kernel kernels[KERNEL_COUNT];
    const char *constants;
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER; /* of the last request */
static fake_request last_request;
static atomic_long live_libraries;

static msl_library *make_library(const char *source) {
    msl_library *library = calloc(1, sizeof *library);
    library->references = 1;
    library->constants = "";
    live_libraries++;
    for (int i = 0; i < KERNEL_COUNT; i++)
        if (strstr(source, KERNELS[i].name)) library->kernels[library->count++] = KERNELS[i];
    return library;
}

static msl_library *refuse(msl_failure *failure, msl_failure_kind kind, const char *message) {
    *failure = (msl_failure){.kind = kind, .message = strdup(message)};
    return NULL;
}

static void append(char *text, size_t size, const char *name, const char *value) {
    size_t length = strlen(text);
    snprintf(text + length, size - length, "%s=%s ", name, value);
}

static void remember(const msl_request *request) {
    uint64_t compilations = last_request.compilations + 1;
    last_request = (fake_request){.language_version = request->language_version,
                                  .math_mode = request->math_mode,
                                  .tensor_api = request->tensor_api,
                                  .compilations = compilations};
    for (size_t i = 0; i < request->macro_count; i++)
        append(last_request.macros, sizeof last_request.macros, request->macros[i].name,
               request->macros[i].value);
    for (size_t i = 0; i < request->constant_count; i++) {
        char index[16];
        snprintf(index, sizeof index, "%u", request->constants[i].index);
        append(last_request.constants, sizeof last_request.constants, index,
               request->constants[i].text);
    }
}

msl_library *msl_compile(const msl_request *request, msl_failure *failure) {
    pthread_mutex_lock(&lock);
    remember(request);
    pthread_mutex_unlock(&lock);
    if (strstr(request->source, "#error"))
        return refuse(failure, MSL_FAILURE_SOURCE,
                      "program_source:1:2: error: \"no\"\n#error \"no\"\n ^\n");
    if (strstr(request->source, "two_constants") && request->function &&
        request->constant_count < 2 && !request->zero_constants)
        return refuse(failure, MSL_FAILURE_CONSTANT, "'add_one' needs function constants");
    msl_library *library = make_library(request->source);
    if (request->constant_count > 0) library->constants = "as requested";
    return library;
}

msl_library *msl_check(const msl_request *request, msl_failure *failure) {
    msl_library *library = msl_compile(request, failure);
    bool by_function = library && strstr(request->source, "function_constant");
    for (size_t i = 0; by_function && i < library->count; i++)
        library->kernels[i].entry = NULL;
    return library;
}

msl_library *msl_open(const char *path, msl_failure *failure) {
    if (strstr(path, "missing")) return refuse(failure, MSL_FAILURE_IO, "no such library");
    msl_library *library = make_library(FAKE_SOURCE);
    if (strstr(path, "constants")) library->constants = "2=true,400=32";
    return library;
}

const char *msl_library_constants(const msl_library *library) {
    return library->constants;
}

/* Every library's text declares these. */
static const msl_declared_constant DECLARED[] = {
    {"masked", 2, "bool"}, {"tile", 5, "ushort3"}, {"odd", 7, ""}};

size_t msl_library_declared_count(const msl_library *library) {
    (void)library;
    return sizeof DECLARED / sizeof DECLARED[0];
}

const msl_declared_constant *msl_library_declared(const msl_library *library, size_t i) {
    (void)library;
    return &DECLARED[i];
}

void msl_library_bind(msl_library *library, const msl_runtime *runtime) {
    (void)library;
    (void)runtime;
}

msl_library *msl_library_retain(msl_library *library) {
    library->references++;
    return library;
}

void msl_library_release(msl_library *library) {
    if (--library->references > 0) return;
    live_libraries--;
    free(library);
}

size_t msl_library_kernel_count(const msl_library *library) {
    return library->count;
}

const msl_kernel *msl_library_kernel(const msl_library *library, size_t i) {
    return &library->kernels[i];
}

const msl_kernel *msl_library_find(const msl_library *library, const char *name) {
    for (size_t i = 0; i < library->count; i++)
        if (strcmp(library->kernels[i].name, name) == 0) return &library->kernels[i];
    return NULL;
}

uint32_t msl_kernel_static_memory(const msl_library *library, const msl_kernel *kernel) {
    (void)library;
    return kernel->max_threads ? 1024 : 0;
}

void msl_set_headers(const char *folder) {
    (void)folder;
}

void msl_set_interruption(bool (*interrupted)(void)) {
    (void)interrupted;
}

void msl_set_cache(const char *folder) {
    (void)folder;
}

char *msl_cache_fault(void) {
    return NULL;
}

char *msl_cache_folder(void) {
    return NULL;
}

char *msl_compiler_version(void) {
    return NULL;
}

uint64_t msl_compile_count(void) {
    return last_request.compilations;
}

const fake_request *fake_last_request(void) {
    last_request.live_libraries = live_libraries;
    return &last_request;
}

const char *msl_library_source_digest(const msl_library *library) {
    (void)library;
    return FAKE_DIGEST;
}

/* ---- the native engine ---- */

struct native_kernel {
    int step;
};

const native_kernel *native_find(const char *name, const char *source_digest,
                                 const char *constants) {
    static const native_kernel twin = {FAKE_NATIVE_STEP};
    bool same = strcmp(name, "twin") == 0 && strcmp(source_digest, FAKE_DIGEST) == 0;
    return same && constants[0] == 0 ? &twin : NULL;
}

bool native_run(const native_kernel *kernel, simt_pool *pool, const simt_launch *launch) {
    (void)pool;
    if (launch->threads[0] != 1) return false;
    *(int *)launch->buffers[0] += kernel->step;
    return true;
}

uint64_t native_estimate(const native_kernel *kernel, const simt_launch *launch) {
    (void)kernel;
    return launch->threads[0] == 1 ? 1 : UINT64_MAX;
}

double native_multiply_adds(uint32_t threads) {
    return threads;
}

double native_read_rate(const void *memory, size_t bytes, uint32_t threads) {
    (void)memory;
    return (double)bytes * threads;
}

/* ---- the SIMT engine ---- */

const msl_runtime simt_runtime = {.abi_version = MSL_ABI_VERSION};

struct simt_pool {
    uint32_t threads;
    int rests;
};

static simt_launch last_launch;

simt_pool *simt_pool_create(uint32_t threads) {
    simt_pool *pool = calloc(1, sizeof *pool);
    pool->threads = threads ? threads : 2;
    return pool;
}

uint32_t simt_pool_threads(const simt_pool *pool) {
    return pool->threads;
}

void simt_pool_release(simt_pool *pool) {
    free(pool);
}

simt_fault_kind simt_run(simt_pool *pool, const simt_launch *launch, simt_fault *fault) {
    (void)pool;
    last_launch = *launch;
    return ((fake_function)launch->kernel->function)(launch, fault);
}

void simt_pool_rest(simt_pool *pool) {
    pool->rests++;
}

void simt_exempt_signals(sigset_t *blocked) {
    (void)blocked;
}

simt_checker *simt_checker_create(bool strict) {
    (void)strict;
    return NULL;
}

void simt_checker_order(simt_checker *checker) {
    (void)checker;
}

void simt_checker_release(simt_checker *checker) {
    (void)checker;
}

int fake_rests(const simt_pool *pool) {
    return pool->rests;
}

const simt_launch *fake_last_launch(void) {
    return &last_launch;
}
