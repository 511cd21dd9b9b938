/* What host Metal notices about its caller: counted for tests, and told on stderr. */
#ifndef HM_DIAGNOSTICS_H
#define HM_DIAGNOSTICS_H

#include <stdarg.h>
#include "control.h"

/* A broken rule of Metal. Each format is printed once, so that a loop does not flood stderr. */
void hm_misuse(const char *format, ...) __attribute__((format(printf, 1, 2)));
void hm_misuse_v(const char *format, va_list arguments) __attribute__((format(printf, 1, 0)));
void hm_over_release(const char *class_name);
void hm_poolless(const char *class_name);

void hm_diagnostics_get(hm_diagnostics *out);

#endif
