#include "device_limits.h"
#include <stdatomic.h>
#include <unistd.h>

static struct {
    _Atomic uint64_t max_buffer_length, budget, max_threadgroup_memory;
} current;
static _Atomic uint64_t allocated;

static hm_limits defaults(void) {
    uint64_t memory = (uint64_t)sysconf(_SC_PHYS_PAGES) * (uint64_t)sysconf(_SC_PAGESIZE);
    return (hm_limits){
        .max_buffer_length = memory / 2,
        .budget = memory,
        .max_threadgroup_memory = 32768,
    };
}

__attribute__((constructor)) static void start_with_defaults(void) {
    hm_limits_set(NULL);
}

void hm_limits_get(hm_limits *out) {
    *out = (hm_limits){
        .max_buffer_length = current.max_buffer_length,
        .budget = current.budget,
        .max_threadgroup_memory = current.max_threadgroup_memory,
    };
}

void hm_limits_set(const hm_limits *limits) {
    hm_limits next = limits ? *limits : defaults();
    current.max_buffer_length = next.max_buffer_length;
    current.budget = next.budget;
    current.max_threadgroup_memory = next.max_threadgroup_memory;
}

bool hm_memory_reserve(uint64_t bytes) {
    uint64_t before = allocated, budget = current.budget;
    if (bytes > current.max_buffer_length) return false;
    do {
        if (before > budget || bytes > budget - before) return false;
    } while (!atomic_compare_exchange_weak(&allocated, &before, before + bytes));
    return true;
}

void hm_memory_release(uint64_t bytes) {
    allocated -= bytes;
}

uint64_t hm_memory_allocated(void) {
    return allocated;
}
