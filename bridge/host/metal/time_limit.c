#include "time_limit.h"
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

static const char VARIABLE[] = "FLASHMETAL_TIMEOUT";
static const double SECOND = 1e9;
/* Centuries; a time of day and this do not overflow. */
static const double FOR_EVER = (double)(INT64_MAX / 2);

static const char *said(void) {
    const char *text = getenv(VARIABLE);
    return text ? text : "";
}

/* 0: no duration. */
static double parse(const char *text) {
    char *end;
    double seconds = strtod(text, &end);
    return end != text && *end == '\0' && seconds > 0 ? seconds : 0;
}

uint64_t hm_time_limit(double seconds) {
    if (seconds == 0) seconds = parse(said());
    if (seconds == 0 || seconds * SECOND >= FOR_EVER) return 0;
    uint64_t nanoseconds = (uint64_t)(seconds * SECOND);
    return nanoseconds ? nanoseconds : 1;
}

char *hm_time_limit_environment_fault(void) {
    const char *text = said();
    if (!*text || parse(text) > 0) return NULL;
    char *fault = NULL;
    if (asprintf(&fault, "%s must be seconds, more than 0, or \"inf\", not \"%s\"", VARIABLE,
                 text) < 0)
        return NULL;
    return fault;
}

uint64_t hm_now(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec;
}
