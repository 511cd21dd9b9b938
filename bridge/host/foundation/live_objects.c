#include "live_objects.h"
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

hm_live_class hm_live_classes[HM_LIVE_SLOTS];

static const char *const device_class = "HMDevice";

uint32_t hm_live_find_slot(const char *class_name) {
    uint32_t first = hm_live_first_slot(class_name);
    for (uint32_t i = 0; i < HM_LIVE_SLOTS - 1; i++) {
        const char *owner = NULL;
        uint32_t slot = (first + i) % (HM_LIVE_SLOTS - 1);
        _Atomic(const char *) *name = &hm_live_classes[slot].name;
        if (atomic_load_explicit(name, memory_order_relaxed) == class_name ||
            atomic_compare_exchange_strong(name, &owner, class_name) || owner == class_name)
            return slot;
    }
    hm_live_classes[HM_LIVE_SLOTS - 1].name = "(other classes)";
    return HM_LIVE_SLOTS - 1;
}

const char *hm_live_name(uint32_t slot) {
    return hm_live_classes[slot].name;
}

long hm_live_count(const char *class_name) {
    long sum = 0;
    for (int i = 0; i < HM_LIVE_SLOTS; i++) {
        if (!hm_live_classes[i].name) continue;
        bool is_device = strcmp(hm_live_classes[i].name, device_class) == 0;
        if (class_name ? strcmp(hm_live_classes[i].name, class_name) == 0 : !is_device)
            sum += hm_live_classes[i].count;
    }
    return sum;
}

void hm_live_dump(void) {
    for (int i = 0; i < HM_LIVE_SLOTS; i++)
        if (hm_live_classes[i].count)
            fprintf(stderr, "host Metal: %ld live %s\n", (long)hm_live_classes[i].count,
                    hm_live_classes[i].name);
}
