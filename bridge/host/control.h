/* Host Metal's control plane, for tests and tools: faults, limits, live-object counts. The bridge
 * itself never uses it; fm_host_control() of flashmetal.h hands out the table. */
#ifndef HM_CONTROL_H
#define HM_CONTROL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct hm_limits {
    uint64_t max_buffer_length;      /* bytes of one buffer */
    uint64_t budget;                 /* bytes of all buffers together */
    uint64_t max_threadgroup_memory; /* bytes */
} hm_limits;

typedef struct hm_diagnostics {
    long misuses; /* broken rules of Metal, e.g. a double commit */
    long over_releases;
    long poolless; /* objects autoreleased where no pool was */
} hm_diagnostics;

typedef struct hm_control {
    /* "site[:after=N][:count=N][:code=N][:ms=N];..." replaces the armed faults; NULL disarms.
     * A site fails `count` times (1) once it has been passed `after` times (0).
     * Sites: device queue buffer nocopy library function pipeline cmdbuf encoder event make the
     * call fail; exec makes the command buffer end with error `code` after `ms`; hang delays its
     * end by `ms` without an error. Returns the number of armed faults, -1 for a bad text. */
    int (*faults)(const char *spec);
    void (*get_limits)(hm_limits *out);
    void (*set_limits)(const hm_limits *limits);  /* NULL: the defaults */
    long (*live_objects)(const char *class_name); /* NULL: of all classes but the device's */
    void (*dump_live_objects)(void);              /* to stderr */
    bool (*quiesce)(int milliseconds);            /* until queues are idle; false: not in time */
    void (*get_diagnostics)(hm_diagnostics *out);
    /* Objective-C messages to encoders since the start; exact while one thread encodes. */
    uint64_t (*message_count)(void);
    /* Folder of the MSL headers, needed once before the first compilation. */
    void (*set_headers)(const char *folder);
    /* The folder of the on-disk cache of compiled kernels; NULL: as the environment says. */
    void (*set_cache)(const char *folder);
    /* Asked now and then on a thread that waits for a compiler: true ends that, and the compilation
     * fails. NULL: nobody is asked. */
    void (*set_interruption)(bool (*interrupted)(void));
    /* The folder of the cache, and what the compiler of kernels calls itself; NULL: there is none.
     * The caller frees them. */
    char *(*cache)(void);
    /* Why the folder that FLASHMETAL_CACHE_DIR names keeps nothing; malloc'ed; NULL: it does, or
     * there is no such name. */
    char *(*cache_fault)(void);
    char *(*compiler)(void);
    uint64_t (*compile_count)(void); /* runs of the compiler since the start */
    /* What the CPU does at most, measured: GFLOP/s of f32 multiply-adds, and GB/s of reading this
     * memory again and again; 0: too little of it. */
    double (*multiply_adds)(uint32_t threads);
    double (*read_rate)(const void *memory, size_t bytes, uint32_t threads);
} hm_control;

const hm_control *hm_get_control(void);

#ifdef __cplusplus
}
#endif
#endif
