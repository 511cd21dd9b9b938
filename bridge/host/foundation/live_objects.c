#include "live_objects.h"
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

enum { SLOTS = 64 }; /* the last one takes all classes that find no other */

static struct {
    _Atomic(const char *) class_name;
    atomic_long count;
} slots[SLOTS];

static const char *const device_class = "HMDevice";

uint32_t hm_live_slot(const char *class_name) {
    uint32_t first = (uint32_t)((uintptr_t)class_name / 8 % (SLOTS - 1));
    for (uint32_t i = 0; i < SLOTS - 1; i++) {
        const char *owner = NULL;
        uint32_t slot = (first + i) % (SLOTS - 1);
        if (atomic_load_explicit(&slots[slot].class_name, memory_order_relaxed) == class_name ||
            atomic_compare_exchange_strong(&slots[slot].class_name, &owner, class_name) ||
            owner == class_name)
            return slot;
    }
    slots[SLOTS - 1].class_name = "(other classes)";
    return SLOTS - 1;
}

const char *hm_live_name(uint32_t slot) {
    return slots[slot].class_name;
}

void hm_live_add(uint32_t slot, long change) {
    atomic_fetch_add_explicit(&slots[slot].count, change, memory_order_relaxed);
}

long hm_live_count(const char *class_name) {
    long sum = 0;
    for (int i = 0; i < SLOTS; i++) {
        if (!slots[i].class_name) continue;
        bool is_device = strcmp(slots[i].class_name, device_class) == 0;
        if (class_name ? strcmp(slots[i].class_name, class_name) == 0 : !is_device)
            sum += slots[i].count;
    }
    return sum;
}

void hm_live_dump(void) {
    for (int i = 0; i < SLOTS; i++)
        if (slots[i].count)
            fprintf(stderr, "host Metal: %ld live %s\n", (long)slots[i].count, slots[i].class_name);
}
