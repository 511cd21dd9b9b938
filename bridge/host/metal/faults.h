/* Faults that a test has armed; control.h describes their text form. */
#ifndef HM_FAULTS_H
#define HM_FAULTS_H

#include <stdbool.h>

typedef struct hm_fault {
    long code;
    long milliseconds;
} hm_fault;

int hm_faults_arm(const char *spec);

/* False: no site fails. */
bool hm_faults_are_armed(void);

/* True when the call at `site` must fail; `fault` (may be NULL) says how. */
bool hm_fault_fires(const char *site, hm_fault *fault);

#endif
