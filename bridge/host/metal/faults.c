#include "faults.h"
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { FAULTS = 16, SPEC_BYTES = 1024 };

typedef struct armed_fault {
    const char *site;
    long after, count;
    hm_fault fault;
} armed_fault;

static const char *const SITES[] = {"device",  "queue",    "buffer",   "nocopy",
                                    "library", "function", "pipeline", "cmdbuf",
                                    "encoder", "event",    "exec",     "hang"};
enum { SITE_COUNT = sizeof SITES / sizeof SITES[0] };

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static armed_fault armed[FAULTS];
atomic_int hm_armed_count; /* read without the lock where nothing is armed */

static bool parse_option(armed_fault *fault, const char *text) {
    const struct {
        const char *name;
        long *value;
    } options[] = {{"after=", &fault->after},
                   {"count=", &fault->count},
                   {"code=", &fault->fault.code},
                   {"ms=", &fault->fault.milliseconds}};
    for (size_t i = 0; i < sizeof options / sizeof options[0]; i++) {
        size_t length = strlen(options[i].name);
        if (strncmp(text, options[i].name, length) != 0) continue;
        char *end;
        *options[i].value = strtol(text + length, &end, 10);
        return end != text + length && *end == '\0' && *options[i].value >= 0;
    }
    return false;
}

static bool parse_fault(armed_fault *fault, char *text) {
    char *rest;
    char *name = strtok_r(text, ":", &rest);
    *fault = (armed_fault){.count = 1};
    for (int i = 0; name && i < SITE_COUNT; i++)
        if (strcmp(name, SITES[i]) == 0) fault->site = SITES[i];
    if (!fault->site) return false;
    for (char *option; (option = strtok_r(NULL, ":", &rest));)
        if (!parse_option(fault, option)) return false;
    return true;
}

/* Number of faults; -1: the text is wrong. */
static int parse(const char *spec, armed_fault out[FAULTS]) {
    char text[SPEC_BYTES];
    int count = 0;
    int length = snprintf(text, sizeof text, "%s", spec);
    if (length < 0 || (size_t)length >= sizeof text) return -1;
    char *rest;
    for (char *entry = strtok_r(text, ";", &rest); entry; entry = strtok_r(NULL, ";", &rest))
        if (count == FAULTS || !parse_fault(&out[count++], entry)) return -1;
    return count;
}

int hm_faults_arm(const char *spec) {
    armed_fault parsed[FAULTS];
    int count = parse(spec ? spec : "", parsed);
    if (count < 0) return -1;
    pthread_mutex_lock(&lock);
    memcpy(armed, parsed, (size_t)count * sizeof parsed[0]);
    hm_armed_count = count;
    pthread_mutex_unlock(&lock);
    return count;
}

/* Called with the lock held. */
static bool fires(armed_fault *candidate, const char *site) {
    if (strcmp(candidate->site, site) != 0 || candidate->count == 0) return false;
    if (candidate->after > 0) {
        candidate->after--;
        return false;
    }
    candidate->count--;
    return true;
}

bool hm_armed_fault_fires(const char *site, hm_fault *fault) {
    bool hit = false;
    pthread_mutex_lock(&lock);
    for (int i = 0; i < hm_armed_count && !hit; i++) {
        hit = fires(&armed[i], site);
        if (hit && fault) *fault = armed[i].fault;
    }
    pthread_mutex_unlock(&lock);
    return hit;
}
