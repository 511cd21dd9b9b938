/* The C ABI of flashmetal: all that Python, Cython and C programs see of Metal.
 *
 * Functions that can fail return fm_status and, when `error` is not NULL, fill it; results go to
 * out-parameters, which are only written on success. A handle is owned by whoever created it and
 * released once; releasing NULL does nothing. Handles may be used from any thread; one encoder must
 * not be used by two threads at the same time. */
#ifndef FLASHMETAL_H
#define FLASHMETAL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

enum {
    FM_MAX_BUFFERS = 31,         /* argument indices 0 to 30 of a kernel */
    FM_MAX_BYTES = 4096,         /* of one setBytes argument */
    FM_MAX_COMMAND_BUFFERS = 64, /* not yet completed, of one device's queue */
};

/* The version of the library, e.g. "0.1.0"; static. */
const char *fm_version(void);

/* ---- status and error ---------------------------------------------------------------------- */

typedef enum fm_status {
    FM_OK = 0,
    FM_DEVICE_NOT_FOUND,
    FM_ALLOCATION_FAILED, /* Metal returned nil for a buffer, queue, command buffer or encoder */
    FM_INVALID_ARGUMENT,
    FM_INVALID_STATE,      /* use after commit, wait before commit, 64 uncommitted encoders */
    FM_COMPILATION_FAILED, /* library, function or pipeline; the message is Metal's */
    FM_COMMAND_FAILED,     /* a command buffer ended with an error; code is Metal's */
    FM_TIMED_OUT,          /* before the end, or before there was room; may be called again */
    FM_UNSUPPORTED,
    FM_IO_FAILED,
} fm_status;

/* Zero-initialise before use. `message` is Metal's own text, whole; fm_error_clear frees it. */
typedef struct fm_error {
    fm_status status;
    int64_t code;    /* of the NSError; 0 when there was none */
    char domain[64]; /* of the NSError; "flashmetal" when there was none */
    char *message;   /* UTF-8, never NULL after a failure unless memory ran out; owned */
} fm_error;

void fm_error_clear(fm_error *error);

/* ---- device -------------------------------------------------------------------------------- */

typedef struct fm_device fm_device; /* an MTLDevice and its command queue */

/* Zero means default. Only host Metal takes options; on Apple's Metal a non-zero field is
 * FM_UNSUPPORTED. The same options give the same registry_id, different ones different ids. */
typedef struct fm_device_options {
    const char *engine;   /* "auto", "simt" or "native"; NULL: "auto" */
    uint32_t threads;     /* CPU threads that run threadgroups; 0: all that the process may use */
    uint32_t max_threads; /* per threadgroup, of every pipeline; 0: 1024 */
    bool no_tensor_api;   /* imitate a system without <metal_tensor> */
    const char *order;    /* "highest", "lowest" or "random" SIMD-group and lane first;
                             NULL: "highest" */
    uint64_t seed;        /* of the random order */
    const char *checks;   /* "on" or "strict": whether kernels keep to their memory, without races;
                             only of the engine "simt"; NULL: no checks */
    double timeout;       /* seconds until a command buffer that still runs is ended with an error,
                             INFINITY: never; 0: as FLASHMETAL_TIMEOUT says, else never */
} fm_device_options;

typedef struct fm_device_info {
    uint64_t registry_id;
    uint64_t max_buffer_length;      /* bytes */
    uint64_t max_threadgroup_memory; /* bytes, static and dynamic together */
    uint64_t max_threads_per_threadgroup;
    uint64_t page_size;        /* bytes; no-copy buffers start and end on pages */
    uint32_t language_version; /* newest MSL, major << 16 | minor */
    uint32_t threads;          /* host Metal: CPU threads; 0 on Apple's Metal */
    bool unified_memory;
    bool is_host;    /* host Metal */
    char engine[16]; /* host Metal: as asked for; "" on Apple's Metal */
    char name[128];
} fm_device_info;

fm_status fm_device_create(const fm_device_options *options, fm_device **out, fm_error *error);
void fm_device_get_info(const fm_device *device, fm_device_info *out);
void fm_device_release(fm_device *device);

/* Host Metal's control table (bridge/host/control.h) for tests and tools; NULL on Apple's Metal. */
struct hm_control;
const struct hm_control *fm_host_control(void);

/* ---- buffer -------------------------------------------------------------------------------- */

typedef struct fm_buffer fm_buffer; /* an MTLBuffer in shared storage */

/* Called once, on any thread, when the last user of wrapped memory is done; must not block. */
typedef void (*fm_release_fn)(void *memory, size_t length, void *context);

/* `length` > 0 zero-filled bytes, page-aligned. */
fm_status fm_buffer_create(fm_device *device, size_t length, fm_buffer **out, fm_error *error);
/* Existing memory, not copied: whole pages. On failure `release` is not called. */
fm_status fm_buffer_wrap(fm_device *device, void *memory, size_t length, fm_release_fn release,
                         void *context, fm_buffer **out, fm_error *error);
/* Bytes past `end`, on the last page of wrapped memory, are not the buffer's: only host Metal's
 * checks look. Before the first dispatch that uses it. */
void fm_buffer_limit(fm_buffer *buffer, size_t end);
void *fm_buffer_contents(const fm_buffer *buffer);
size_t fm_buffer_length(const fm_buffer *buffer);
/* Counts the command buffers that bind it from now on. */
fm_status fm_buffer_track(fm_buffer *buffer, fm_error *error);
/* Counts them with those of `other`, if that is tracked: both stand for the same memory, be it on
 * different devices. `buffer` is not tracked yet. */
void fm_buffer_track_with(fm_buffer *buffer, const fm_buffer *other);
/* Whether one of them is uncommitted or in flight. */
bool fm_buffer_is_busy(const fm_buffer *buffer);
void fm_buffer_release(fm_buffer *buffer);

/* ---- library ------------------------------------------------------------------------------- */

typedef struct fm_library fm_library; /* an MTLLibrary */

typedef enum fm_math_mode {
    FM_MATH_SAFE = 0,
    FM_MATH_RELAXED = 1, /* keeps infinities and NaN */
    FM_MATH_FAST = 2,
} fm_math_mode;

typedef struct fm_macro {
    const char *name;
    const char *value;
} fm_macro;

typedef struct fm_compile_options {
    uint32_t language_version; /* major << 16 | minor; 0: Metal's default */
    fm_math_mode math_mode;
    const fm_macro *macros;
    size_t macro_count;
} fm_compile_options;

/* `source` is MSL in UTF-8, `length` bytes. */
fm_status fm_library_compile(fm_device *device, const char *source, size_t length,
                             const fm_compile_options *options, fm_library **out, fm_error *error);
/* A precompiled library: a .metallib, or on host Metal a .hostlib. */
fm_status fm_library_open(fm_device *device, const char *path, fm_library **out, fm_error *error);
/* The names of its kernels, a line each; malloc'ed, the caller frees it. NULL: no memory. */
char *fm_library_copy_names(const fm_library *library);
/* The function constants of a kernel, a line each: index, type as MSL spells it ("uchar4"; "?" is
 * one of no fm_constant_type) and name. Of `function` NULL, or one that the library has not: of all
 * kernels. Host Metal takes those that the text declares for those of each kernel. malloc'ed, the
 * caller frees it. NULL: no memory. */
char *fm_library_copy_constants(const fm_library *library, const char *function);
void fm_library_release(fm_library *library);

/* ---- pipeline ------------------------------------------------------------------------------ */

typedef struct fm_pipeline fm_pipeline; /* an MTLComputePipelineState and its reflection */

typedef enum fm_constant_type {
    FM_CONSTANT_BOOL = 0, /* a byte, 0 or 1 */
    FM_CONSTANT_CHAR,
    FM_CONSTANT_UCHAR,
    FM_CONSTANT_SHORT,
    FM_CONSTANT_USHORT,
    FM_CONSTANT_INT,
    FM_CONSTANT_UINT,
    FM_CONSTANT_LONG, /* of 64 bits */
    FM_CONSTANT_ULONG,
    FM_CONSTANT_HALF,
    FM_CONSTANT_FLOAT,
    FM_CONSTANT_TYPES,
} fm_constant_type;

typedef struct fm_constant {
    uint32_t index;
    fm_constant_type type; /* as the kernel declares it, or its components' */
    uint32_t components;   /* 1 to 4 */
    const void *value;     /* three components are stored as four */
} fm_constant;

/* Bit i of a mask stands for argument index i. */
typedef struct fm_pipeline_info {
    uint32_t max_threads; /* per threadgroup */
    uint32_t simd_width;
    uint32_t static_threadgroup_memory; /* bytes */
    uint32_t declared;                  /* buffer arguments that the kernel declares */
    uint32_t used;                      /* ... and reads or writes: must be bound */
    uint32_t writable;                  /* ... and may write */
    uint32_t threadgroup_declared;      /* [[threadgroup(i)]] arguments */
    uint32_t alignment[FM_MAX_BUFFERS]; /* of each buffer argument's type, in bytes */
    /* Of each used one's type, a pointer's of one element, in bytes: what is bound must have as
     * many, or the kernel reads what was never given. 0 for the others. */
    uint32_t size[FM_MAX_BUFFERS];
    /* Of each used one in the kernel's text, UTF-8, owned by the pipeline; NULL for the others, or
     * when memory ran out. */
    const char *name[FM_MAX_BUFFERS];
} fm_pipeline_info;

fm_status fm_pipeline_create(fm_device *device, fm_library *library, const char *function,
                             const fm_constant *constants, size_t constant_count, fm_pipeline **out,
                             fm_error *error);
const fm_pipeline_info *fm_pipeline_get_info(const fm_pipeline *pipeline);
void fm_pipeline_release(fm_pipeline *pipeline);

/* ---- wake-up ------------------------------------------------------------------------------- */

typedef struct fm_wakeup fm_wakeup; /* a descriptor for event loops */

fm_status fm_wakeup_create(fm_wakeup **out, fm_error *error);
/* To be polled for reading, only; closed once the user and all completions are done with it. */
int fm_wakeup_descriptor(const fm_wakeup *wakeup);
/* Before looking which work has completed: readable again only after another completion. */
void fm_wakeup_clear(fm_wakeup *wakeup);
void fm_wakeup_release(fm_wakeup *wakeup);

/* ---- encoder ------------------------------------------------------------------------------- */

typedef struct fm_encoder fm_encoder; /* one command buffer and one concurrent compute encoder */

typedef enum fm_encoder_state {
    FM_ENCODER_OPEN = 0,
    FM_ENCODER_COMMITTED,
    FM_ENCODER_COMPLETED,
    FM_ENCODER_FAILED,
} fm_encoder_state;

typedef struct fm_argument {
    uint32_t index;
    fm_buffer *buffer; /* NULL: `bytes` */
    size_t offset;     /* into the buffer, in bytes */
    const void *bytes; /* copied at once, at most FM_MAX_BYTES */
    size_t length;
} fm_argument;

typedef struct fm_threadgroup_memory {
    uint32_t index;
    uint32_t length; /* bytes, a multiple of 16 */
} fm_threadgroup_memory;

/* The caller has checked it: the bridge passes it on to Metal, leaving out what is set already. */
typedef struct fm_dispatch {
    fm_pipeline *pipeline;
    const fm_argument *arguments;
    size_t argument_count;
    const fm_threadgroup_memory *threadgroup_memory;
    size_t threadgroup_memory_count;
    uint64_t grid[3]; /* threadgroups, or threads when `exact_threads` */
    uint64_t threads_per_threadgroup[3];
    bool exact_threads;
} fm_dispatch;

/* Nothing of Metal is made before fm_encoder_begin. */
fm_status fm_encoder_create(fm_device *device, fm_encoder **out, fm_error *error);
/* Makes the command buffer and encoder, if not yet made. Waits up to `timeout_ns` (negative: for
 * ever) while 64 command buffers of the device are uncompleted; FM_TIMED_OUT, or FM_INVALID_STATE
 * when all 64 are uncommitted. `label` may be NULL. */
fm_status fm_encoder_begin(fm_encoder *encoder, const char *label, int64_t timeout_ns,
                           fm_error *error);
bool fm_encoder_has_begun(const fm_encoder *encoder);
/* After fm_encoder_begin. Bound buffers live until the command buffer has completed. */
fm_status fm_encoder_dispatch(fm_encoder *encoder, const fm_dispatch *dispatch, fm_error *error);
/* Orders what was dispatched before it and what comes after it (scope buffers). Nothing to do
 * before fm_encoder_begin. */
fm_status fm_encoder_barrier(fm_encoder *encoder, fm_error *error);
/* Does not wait, once begun. An encoder without a dispatch commits an empty command buffer. */
fm_status fm_encoder_commit(fm_encoder *encoder, fm_error *error);
/* Until completion or `timeout_ns` (negative: for ever). FM_TIMED_OUT, FM_COMMAND_FAILED with
 * Metal's error, or FM_OK; may be called again, and by several threads. */
fm_status fm_encoder_wait(fm_encoder *encoder, int64_t timeout_ns, fm_error *error);
/* The same, looking without a pause in place of sleeping: sooner, but it takes a whole core. */
fm_status fm_encoder_spin(fm_encoder *encoder, int64_t timeout_ns, fm_error *error);
/* After commit: makes the wake-up readable at completion, at once if that has come. */
fm_status fm_encoder_notify(fm_encoder *encoder, fm_wakeup *wakeup, fm_error *error);
fm_encoder_state fm_encoder_get_state(const fm_encoder *encoder);
/* Seconds on Metal's clock; both 0 before completion. */
void fm_encoder_get_gpu_time(const fm_encoder *encoder, double *start, double *end);
/* An uncommitted encoder is discarded; committed work goes on. */
void fm_encoder_release(fm_encoder *encoder);

#ifdef __cplusplus
}
#endif
#endif
