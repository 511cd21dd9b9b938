#include "diagnostics.h"
#include <stdatomic.h>
#include <stdio.h>

enum { FORMATS = 64 };

static atomic_long misuses, over_releases, poolless;
static _Atomic(const char *) printed[FORMATS];

/* True for the first call with this format. */
static bool is_new(const char *format) {
    for (int i = 0; i < FORMATS; i++) {
        const char *known = NULL;
        if (atomic_compare_exchange_strong(&printed[i], &known, format)) return true;
        if (known == format) return false;
    }
    return false;
}

void hm_misuse_v(const char *format, va_list arguments) {
    misuses++;
    if (!is_new(format)) return;
    char text[512];
    vsnprintf(text, sizeof text, format, arguments);
    fprintf(stderr, "host Metal: %s\n", text);
}

void hm_misuse(const char *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    hm_misuse_v(format, arguments);
    va_end(arguments);
}

void hm_over_release(const char *class_name) {
    over_releases++;
    fprintf(stderr, "host Metal: an object of class %s is released too often\n", class_name);
}

void hm_poolless(const char *class_name) {
    poolless++;
    fprintf(stderr,
            "host Metal: an object of class %s is autoreleased outside of a pool and leaks\n",
            class_name);
}

void hm_diagnostics_get(hm_diagnostics *out) {
    *out =
        (hm_diagnostics){.misuses = misuses, .over_releases = over_releases, .poolless = poolless};
}
