#ifndef HM_OBJECT_HEADER_H
#define HM_OBJECT_HEADER_H

#import <Foundation/NSObject.h>
#include <stdatomic.h>

/* In front of every object; its size keeps the object aligned as malloc aligns. */
typedef struct hm_object_header {
    _Alignas(16) atomic_int references;
    uint32_t live_slot;
} hm_object_header;

static inline hm_object_header *hm_header_of(id object) {
    return (hm_object_header *)(void *)object - 1;
}

/* What retain does, of every class but those of constant strings. */
static inline id hm_retain(id object) {
    atomic_fetch_add_explicit(&hm_header_of(object)->references, 1, memory_order_relaxed);
    return object;
}

#endif
