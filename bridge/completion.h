/* How a command buffer ended. Metal's completed handler writes the record once and wakes the
 * waiters; it may outlive the encoder, hence the reference count. Knows no Objective-C. */
#ifndef FM_BRIDGE_COMPLETION_H
#define FM_BRIDGE_COMPLETION_H

#include "flashmetal.h"
#include "use_count.h"

typedef struct fm_completion fm_completion;

/* With one reference; NULL with `error` filled. */
fm_completion *fm_completion_create(fm_error *error);
fm_completion *fm_completion_retain(fm_completion *completion);
void fm_completion_release(fm_completion *completion);

/* Before the commit: the command buffer uses a tracked buffer until its end. */
fm_status fm_completion_add_use(fm_completion *completion, fm_use_count *count, fm_error *error);

/* Called once. Takes over the message of `outcome`; the times are seconds on Metal's clock. */
void fm_completion_finish(fm_completion *completion, const fm_error *outcome, double start,
                          double end);

/* One load: for those who poll. */
bool fm_completion_is_done(const fm_completion *completion);
/* As fm_encoder_wait. */
fm_status fm_completion_wait(fm_completion *completion, int64_t timeout_ns, fm_error *error);
/* As fm_encoder_notify. */
fm_status fm_completion_notify(fm_completion *completion, fm_wakeup *wakeup, fm_error *error);

/* FM_ENCODER_COMMITTED, FM_ENCODER_COMPLETED or FM_ENCODER_FAILED. */
fm_encoder_state fm_completion_get_state(const fm_completion *completion);
void fm_completion_get_gpu_time(const fm_completion *completion, double *start, double *end);

#endif
