/* The places that a queue has for command buffers: one is taken before Metal is asked for a command
 * buffer, since Metal itself would wait for one without an end. They may outlive the device, hence
 * the reference count. Knows no Objective-C. */
#ifndef FM_BRIDGE_SLOTS_H
#define FM_BRIDGE_SLOTS_H

#include "flashmetal.h"

typedef struct fm_slots fm_slots;

/* FM_MAX_COMMAND_BUFFERS of them, with one reference; NULL with `error` filled. */
fm_slots *fm_slots_create(fm_error *error);
fm_slots *fm_slots_retain(fm_slots *slots);
void fm_slots_release(fm_slots *slots);

/* Takes a slot for a command buffer that is being encoded. Waits up to `timeout_ns` (negative: for
 * ever) while all are taken; FM_TIMED_OUT, or FM_INVALID_STATE when none of them is committed. */
fm_status fm_slots_take(fm_slots *slots, int64_t timeout_ns, fm_error *error);
/* The command buffer of a slot is committed now. */
void fm_slots_commit(fm_slots *slots);
/* Gives back the slot of a committed command buffer that has ended. */
void fm_slots_end(fm_slots *slots);
/* Gives back the slot of a command buffer that is not committed. */
void fm_slots_discard(fm_slots *slots);

#endif
