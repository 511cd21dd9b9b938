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

typedef struct hm_dispatch {
    hm_command command;
    simt_launch launch;
    const native_kernel *equivalent; /* of the kernel; NULL: none */
} hm_dispatch;

typedef struct hm_event_command {
    hm_command command;
    HMSharedEvent *event; /* held by the command buffer */
    uint64_t value;
} hm_event_command;

#endif
