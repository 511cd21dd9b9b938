/* How many objects of each class exist. A class keeps its slot for ever. */
#ifndef HM_LIVE_OBJECTS_H
#define HM_LIVE_OBJECTS_H

#include <stdatomic.h>
#include <stdint.h>

enum { HM_LIVE_SLOTS = 64 }; /* the last one takes all classes that find no other */

typedef struct hm_live_class {
    _Atomic(const char *) name;
    atomic_long count;
} hm_live_class;

extern hm_live_class hm_live_classes[HM_LIVE_SLOTS];

/* The first of the slots that a class may have. */
static inline uint32_t hm_live_first_slot(const char *class_name) {
    return (uint32_t)((uintptr_t)class_name / 8 % (HM_LIVE_SLOTS - 1));
}

uint32_t hm_live_find_slot(const char *class_name);

/* The same pointer for the same class. */
static inline uint32_t hm_live_slot(const char *class_name) {
    uint32_t first = hm_live_first_slot(class_name);
    const char *owner = atomic_load_explicit(&hm_live_classes[first].name, memory_order_relaxed);
    return owner == class_name ? first : hm_live_find_slot(class_name);
}

static inline void hm_live_add(uint32_t slot, long change) {
    atomic_fetch_add_explicit(&hm_live_classes[slot].count, change, memory_order_relaxed);
}

const char *hm_live_name(uint32_t slot);

/* NULL: of all classes but those of devices, which live as long as the process. */
long hm_live_count(const char *class_name);
void hm_live_dump(void);

#endif
