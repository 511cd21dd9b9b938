/* Faults that a test has armed; control.h describes their text form. */
#ifndef HM_FAULTS_H
#define HM_FAULTS_H

#include <stdatomic.h>
#include <stdbool.h>

typedef struct hm_fault {
    long code;
    long milliseconds;
} hm_fault;

int hm_faults_arm(const char *spec);

extern atomic_int hm_armed_count;

/* False: no site fails. */
static inline bool hm_faults_are_armed(void) {
    return atomic_load_explicit(&hm_armed_count, memory_order_relaxed) > 0;
}

bool hm_armed_fault_fires(const char *site, hm_fault *fault);

/* True when the call at `site` must fail; `fault` (may be NULL) says how. */
static inline bool hm_fault_fires(const char *site, hm_fault *fault) {
    return hm_faults_are_armed() && hm_armed_fault_fires(site, fault);
}

#endif
