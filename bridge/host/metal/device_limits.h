/* The limits of every host device, and the bytes that buffers have taken of them. */
#ifndef HM_DEVICE_LIMITS_H
#define HM_DEVICE_LIMITS_H

#include "control.h"

enum {
    HM_PAGE_SIZE = 16384,           /* as on Apple silicon, whatever the CPU's is */
    HM_MAX_THREADS = 1024,          /* per threadgroup */
    HM_MAX_BYTES = 4096,            /* of one setBytes */
    HM_THREADGROUP_MEMORY_STEP = 16 /* bytes */
};

void hm_limits_get(hm_limits *out);
void hm_limits_set(const hm_limits *limits); /* NULL: the defaults */

/* False when one buffer or all together would be too large. */
bool hm_memory_reserve(uint64_t bytes);
void hm_memory_release(uint64_t bytes);
uint64_t hm_memory_allocated(void);

#endif
