// What a compiled kernel library and the engine that runs it share. Plain C types only; the library
// calls the engine through the table that it is given when it is loaded, so that it needs no symbol
// of the process.
#pragma once
#include <stddef.h>
#include <stdint.h>

#if defined(__clang__)
#define MSL_CONVERGENT __attribute__((convergent))
#else
#define MSL_CONVERGENT
#endif

#ifdef __cplusplus
#define MSL_ALIGN(bytes) alignas(bytes)
extern "C" {
#else
#define MSL_ALIGN(bytes) _Alignas(bytes)
#endif

enum {
    MSL_ABI_VERSION = 8,
    MSL_LANES = 32,           // threads of a SIMD-group
    MSL_MAX_THREADS = 1024,   // threads of a threadgroup
    MSL_MAX_BUFFERS = 31,     // argument indices
    MSL_EXCHANGE_BYTES = 16,  // widest operand of a SIMD-group operation, per lane
    MSL_SIMD_BARRIER = 255,   // instead of an operand's bytes: a simdgroup_barrier
    MSL_SCRATCH_ALIGNMENT = 64,
    MSL_SITE_COLUMN_BITS = 24,  // of a site: source line << 24 | column
    MSL_SITE_BITS = 56,         // at most
};

// Where the lanes of one SIMD-group meet: operands in, participants out. Lane i stores its operand
// at `in` + i * MSL_EXCHANGE_BYTES, since lanes may wait in operations of different widths; of the
// operation resolved, operands are packed: lane i reads lane k's at `op` + k * size.
typedef struct msl_exchange {
    uint32_t mask;      // lanes that take part in the operation being resolved
    uint32_t computed;  // its reduced value is in `result`
    MSL_ALIGN(64) unsigned char in[MSL_LANES * MSL_EXCHANGE_BYTES];  // operands as they arrive
    MSL_ALIGN(64) unsigned char op[MSL_LANES * MSL_EXCHANGE_BYTES];  // of the operation resolved
    MSL_ALIGN(64) unsigned char result[MSL_EXCHANGE_BYTES];
} msl_exchange;

// All that a kernel parameter can be bound to, for one thread of the grid.
typedef struct msl_thread {
    uint32_t thread_in_threadgroup[3], threadgroup_in_grid[3], thread_in_grid[3];
    uint32_t threads_per_threadgroup[3];           // of this threadgroup (ragged ones are smaller)
    uint32_t dispatch_threads_per_threadgroup[3];  // as dispatched
    uint32_t threadgroups_per_grid[3], threads_per_grid[3];
    uint32_t index, lane, simdgroup, simdgroups;  // in the threadgroup
    msl_exchange *exchange;                       // of this SIMD-group
    void *const *buffers;                         // by argument index
    unsigned char *const *threadgroup_memory;     // [[threadgroup(i)]] arguments, by index
} msl_thread;

// What a kernel does to memory.
typedef enum msl_access {
    MSL_ACCESS_READ = 0,
    MSL_ACCESS_WRITE = 1,
    MSL_ACCESS_ATOMIC_READ = 2,
    MSL_ACCESS_ATOMIC_WRITE = 3,
    MSL_ACCESS_INITIALISE = 4,  // a threadgroup variable, on behalf of all threads
} msl_access;

// Whose memory a barrier orders, and which: values of mem_flags.
typedef enum msl_fence {
    MSL_FENCE_THREADGROUP = 0,  // the barrier that comes next
    MSL_FENCE_SIMDGROUP = 1,    // the one that the calling thread has passed
    MSL_FENCE_THREAD = 2,       // none, but atomic_thread_fence
} msl_fence;
enum {
    MSL_MEMORY_DEVICE = 1,
    MSL_MEMORY_THREADGROUP = 2,
    MSL_MEMORY_ALL = MSL_MEMORY_DEVICE | MSL_MEMORY_THREADGROUP,
};

// `site` tells two operations in the source apart.
typedef struct msl_runtime {
    uint32_t abi_version;
    void (*barrier)(uint64_t site);                   // threadgroup_barrier
    msl_exchange *(*simd_begin)(uint32_t *lane);      // before the operand is stored
    void (*simd_wait)(uint64_t site, uint32_t size);  // after it, `size` bytes a lane
    // Every thread arrives with `mine`; the last one runs `leader` over all of them.
    void (*cooperate)(uint64_t site, void *mine, void (*leader)(void **all, uint32_t threads));
    const msl_thread *(*thread)(void);  // the running one
    // Memory of the OS thread, at a multiple of MSL_SCRATCH_ALIGNMENT, that keeps its content until
    // the running thread meets others or asks again. Never null.
    void *(*scratch)(size_t bytes);
    // Ends the threadgroup: the kernel did what Metal leaves undefined. Does not return; `what`
    // lives as long as the library.
    void (*misuse)(uint64_t site, const char *what);
    // Of a library that was compiled with checks: before each access, with the place in the code,
    // and at barriers. The kinds are msl_access and msl_fence.
    void (*access)(const void *address, size_t bytes, uint32_t kind, const void *place);
    void (*fence)(uint32_t scope, uint32_t memory);
} msl_runtime;

typedef enum msl_binding_kind {
    MSL_BINDING_BUFFER = 0,
    MSL_BINDING_THREADGROUP_MEMORY = 1,
} msl_binding_kind;

typedef struct msl_binding {
    const char *name;
    uint32_t index;
    uint32_t kind;       // msl_binding_kind
    uint32_t used;       // the kernel's body names it
    uint32_t writable;   // not a pointer or reference to const or constant
    uint32_t alignment;  // of the type pointed to
    uint32_t size;
} msl_binding;

typedef struct msl_kernel {
    const char *name;  // for the host
    void (*entry)(const msl_thread *);
    const void *function;  // the kernel function itself, to find its static threadgroup memory
    uint32_t max_threads;  // [[max_total_threads_per_threadgroup(n)]], 0 without
    uint32_t binding_count;
    const msl_binding *bindings;
} msl_kernel;

// A function constant that the text declares.
typedef struct msl_declared_constant {
    const char *name;
    uint32_t index;
    const char
        *type;  // as MSL spells it, e.g. "uchar4"; "": one that function constants cannot have
} msl_declared_constant;

// Each compiled library exports one, named `msl_image`.
typedef struct msl_image {
    uint32_t abi_version;
    uint32_t kernel_count;
    const msl_kernel *kernels;
    void (*bind)(const msl_runtime *runtime);
    const char *source_digest;  // SHA-256 of the MSL text, in hex
    const char *constants;      // function constants compiled in: "2=true,400=32", by index
    // All that the text declares, of a library of all its kernels.
    uint32_t declared_count;
    const msl_declared_constant *declared;
} msl_image;

#ifdef __cplusplus
}
#endif
