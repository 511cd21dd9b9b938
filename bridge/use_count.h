/* Who is at work on a tracked buffer: one count a memory, of the command buffers that bind it
 * and have not ended. It may outlive the buffer, hence the reference count. Knows no Objective-C.
 */
#ifndef FM_BRIDGE_USE_COUNT_H
#define FM_BRIDGE_USE_COUNT_H

#include "flashmetal.h"

typedef struct fm_use_count fm_use_count;

/* With one reference; NULL with `error` filled. */
fm_use_count *fm_use_count_create(fm_error *error);
/* One reference more; NULL stays NULL. */
fm_use_count *fm_use_count_retain(fm_use_count *count);
void fm_use_count_release(fm_use_count *count);
bool fm_use_count_is_zero(const fm_use_count *count);

/* What one command buffer uses; all zeros when empty. Belongs to one thread at a time. */
typedef struct fm_use_list {
    fm_use_count **counts; /* owned, each with a reference */
    size_t length, capacity;
} fm_use_list;

/* Counts one use more, once for each list. */
fm_status fm_use_list_add(fm_use_list *list, fm_use_count *count, fm_error *error);
/* Ends the uses and empties the list. */
void fm_use_list_end(fm_use_list *list);

#endif
