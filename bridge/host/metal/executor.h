/* The thread of a command queue: runs what is submitted, in order, one at a time. Knows no
 * Objective-C. */
#ifndef HM_EXECUTOR_H
#define HM_EXECUTOR_H

#include <stdbool.h>
#include <stddef.h>

typedef struct hm_executor hm_executor;

/* At most `capacity` submissions wait at a time. NULL: no memory. */
hm_executor *hm_executor_create(size_t capacity, void (*run)(void *work));
/* Starts the thread when it is the first one; false: no thread could be started. */
bool hm_executor_submit(hm_executor *executor, void *work);
/* Runs work on the calling thread if no other is under way or waits; false: another is. */
bool hm_executor_run(hm_executor *executor, void *work);
/* Runs the work that waits on the calling thread, while none is under way and the next is `wanted`.
 */
void hm_executor_help(hm_executor *executor, bool (*wanted)(void *work));
/* When nothing waits any more; also from within `run`. */
void hm_executor_destroy(hm_executor *executor);

/* Until no executor of the process has work; false: not within the time. */
bool hm_executors_quiesce(int milliseconds);

#endif
