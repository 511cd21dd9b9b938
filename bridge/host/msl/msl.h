/* The MSL compiler of host Metal: source text in, loaded library of kernels out. No Objective-C,
 * no Python. Thread-safe. */
#ifndef MSL_H
#define MSL_H

#include "include/__msl_abi.h"
#include <stdbool.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct msl_library msl_library; /* a loaded shared object; reference-counted */

typedef enum msl_math_mode {
    MSL_MATH_SAFE = 0,
    MSL_MATH_RELAXED = 1,
    MSL_MATH_FAST = 2,
} msl_math_mode;

typedef struct msl_macro {
    const char *name;
    const char *value;
} msl_macro;

/* A function constant. `text` is its value as C++ source, e.g. "true", "-3", "1.5f". */
typedef struct msl_constant {
    uint32_t index;
    const char *text;
} msl_constant;

typedef struct msl_request {
    const char *source; /* UTF-8, `length` bytes */
    size_t length;
    uint32_t language_version; /* major << 16 | minor */
    msl_math_mode math_mode;
    const msl_macro *macros;
    size_t macro_count;
    const msl_constant *constants;
    size_t constant_count;
    bool zero_constants;  /* whether function constants without a value are zero */
    bool tensor_api;      /* whether <metal_tensor> exists */
    bool checks;          /* whether kernels tell the engine of each access to memory */
    const char *function; /* the only kernel to compile; NULL: all */
} msl_request;

/* Of a failure: what is wrong, in the form Metal reports it. */
typedef enum msl_failure_kind {
    MSL_FAILURE_SOURCE = 1, /* the text does not compile: `message` holds the diagnostics */
    MSL_FAILURE_COMPILER,   /* no usable compiler: `message` says how to get one */
    MSL_FAILURE_IO,
    MSL_FAILURE_UNSUPPORTED, /* the text needs what this device lacks: `message` names it */
    MSL_FAILURE_CONSTANT,    /* the kernel needs function constants: `message` names them */
} msl_failure_kind;

typedef struct msl_failure {
    msl_failure_kind kind;
    char *message; /* malloc'ed; the caller frees it */
} msl_failure;

/* Finds out whether a text compiles and which kernels it has, whatever `function` is. The library
 * may hold no more than their names: `entry` is NULL then, and msl_compile makes the kernel.
 * Templates are instantiated only with the kernel that needs them. NULL on failure. */
msl_library *msl_check(const msl_request *request, msl_failure *failure);
/* Looks in the on-disk cache first, as msl_check does. NULL on failure. */
msl_library *msl_compile(const msl_request *request, msl_failure *failure);
/* A library compiled earlier: PATH.hostlib names the set PATH.<cpu level>.hostlib, of which the
 * best that this CPU runs is loaded. */
msl_library *msl_open(const char *path, msl_failure *failure);
/* Lets the kernels call the engine. Needed before the first of them runs; repeating it is fine. */
void msl_library_bind(msl_library *library, const msl_runtime *runtime);
msl_library *msl_library_retain(msl_library *library);
void msl_library_release(msl_library *library);

size_t msl_library_kernel_count(const msl_library *library);
const msl_kernel *msl_library_kernel(const msl_library *library, size_t i);
const msl_kernel *msl_library_find(const msl_library *library, const char *name); /* NULL: none */
/* SHA-256 of the MSL source, in hex. */
const char *msl_library_source_digest(const msl_library *library);
/* The function constants that it was compiled with, by index: "2=true,400=32". "": none. */
const char *msl_library_constants(const msl_library *library);
/* Bytes of `threadgroup` variables that the kernel itself declares. */
uint32_t msl_kernel_static_memory(const msl_library *library, const msl_kernel *kernel);
/* The calling OS thread's copy of the library's `threadgroup` variables (a thread-local block). */
void *msl_library_threadgroup_block(const msl_library *library, size_t *bytes);

/* A variable in that block. */
typedef struct msl_variable {
    const char *name; /* as in the source; NULL: the compiler's own */
    size_t offset, bytes;
} msl_variable;

/* All of them, in no order, for as long as the library lives. */
size_t msl_library_threadgroup_variables(const msl_library *library,
                                         const msl_variable **variables);

/* A place in the source: program_source, or a header's name. */
typedef struct msl_place {
    const char *file; /* lives as long as the library */
    uint32_t line;
    bool exact; /* else near it: the optimiser keeps no line of instructions that it moves far */
} msl_place;

/* Where the source says what the instruction at `address` does; calls of the standard library are
 * where they stand in the source. False: not in the library, or no code of the source. Takes as
 * long as the library has code. */
bool msl_library_place(const msl_library *library, const void *address, msl_place *place);

/* Where the library lies in memory. */
const void *msl_library_image(const msl_library *library, size_t *bytes);

void msl_set_headers(const char *folder);
void msl_set_cache(const char *folder); /* NULL: FLASHMETAL_CACHE_DIR, XDG_CACHE_HOME, ~/.cache */
/* Asked now and then on the thread that waits for a compiler: true ends that, and the compilation
 * fails. NULL: nobody is asked. */
void msl_set_interruption(bool (*interrupted)(void));
/* Of the on-disk cache; malloc'ed, the caller frees it; NULL: no usable one is named. */
char *msl_cache_folder(void);
/* What is wrong with FLASHMETAL_CPU or FLASHMETAL_CACHE_DIR, which are ignored then; malloc'ed, the
 * caller frees it; NULL: nothing. */
char *msl_environment_fault(void);
/* What the compiler calls itself, e.g. "clang version 19.1.7"; malloc'ed, the caller frees it;
 * NULL: there is no usable one. */
char *msl_compiler_version(void);
uint64_t msl_compile_count(void);

#ifdef __cplusplus
}
#endif
#endif
