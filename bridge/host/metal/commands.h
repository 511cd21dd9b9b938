/* What a command buffer records, in its arena; executed in order. */
#ifndef HM_COMMANDS_H
#define HM_COMMANDS_H

#include "HMSharedEvent.h"
#include "native.h"
#include "simt.h"

typedef enum hm_command_kind {
    HM_COMMAND_DISPATCH,
    HM_COMMAND_SIGNAL,
    HM_COMMAND_WAIT,
} hm_command_kind;

typedef struct hm_command {
    struct hm_command *next;
    hm_command_kind kind;
    uint32_t encoder; /* the number of its encoder, of a dispatch */
} hm_command;

/* A buffer from its offset on, or bytes; NULL: nothing is bound. */
typedef struct hm_binding {
    void *memory;
    uint64_t length;
} hm_binding;

/* A simt_launch without the empty ends of its tables, which are most of it: writing them would take
 * longer than all the rest of a dispatch. */
typedef struct hm_dispatch {
    hm_command command;
    bool ordered;                    /* comes after all that was encoded before it */
    const native_kernel *equivalent; /* of the kernel; NULL: none */
    const msl_library *library;
    const msl_kernel *kernel;
    uint32_t threads[3]; /* of the grid */
    uint32_t threads_per_threadgroup[3];
    uint32_t binding_count, memory_count;
    hm_binding bindings[]; /* behind them lie the bytes of threadgroup memory, uint32_t */
} hm_dispatch;

typedef struct hm_event_command {
    hm_command command;
    HMSharedEvent *event; /* held by the command buffer */
    uint64_t value;
} hm_event_command;

static inline size_t hm_dispatch_size(uint32_t binding_count, uint32_t memory_count) {
    return sizeof(hm_dispatch) + binding_count * sizeof(hm_binding) +
           memory_count * sizeof(uint32_t);
}

static inline const uint32_t *hm_dispatch_memory(const hm_dispatch *dispatch) {
    return (const uint32_t *)(dispatch->bindings + dispatch->binding_count);
}

#endif
