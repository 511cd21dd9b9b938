#include "device_limits.h"
#include <pthread.h>
#include <unistd.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static hm_limits current;
static uint64_t allocated;

static hm_limits defaults(void) {
    uint64_t memory = (uint64_t)sysconf(_SC_PHYS_PAGES) * (uint64_t)sysconf(_SC_PAGESIZE);
    return (hm_limits){
        .max_buffer_length = memory / 2,
        .budget = memory,
        .max_threadgroup_memory = 32768,
    };
}

__attribute__((constructor)) static void start_with_defaults(void) {
    current = defaults();
}

void hm_limits_get(hm_limits *out) {
    pthread_mutex_lock(&lock);
    *out = current;
    pthread_mutex_unlock(&lock);
}

void hm_limits_set(const hm_limits *limits) {
    pthread_mutex_lock(&lock);
    current = limits ? *limits : defaults();
    pthread_mutex_unlock(&lock);
}

bool hm_memory_reserve(uint64_t bytes) {
    pthread_mutex_lock(&lock);
    bool fits = bytes <= current.max_buffer_length && allocated <= current.budget &&
                bytes <= current.budget - allocated;
    if (fits) allocated += bytes;
    pthread_mutex_unlock(&lock);
    return fits;
}

void hm_memory_release(uint64_t bytes) {
    pthread_mutex_lock(&lock);
    allocated -= bytes;
    pthread_mutex_unlock(&lock);
}

uint64_t hm_memory_allocated(void) {
    pthread_mutex_lock(&lock);
    uint64_t bytes = allocated;
    pthread_mutex_unlock(&lock);
    return bytes;
}
