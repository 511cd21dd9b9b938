/* How every part of the bridge reports a failure. */
#ifndef FM_BRIDGE_ERROR_H
#define FM_BRIDGE_ERROR_H

#include "flashmetal.h"

/* Fills `error` (may be NULL) with a text of our own and returns `status`. */
fm_status fm_fail(fm_error *error, fm_status status, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* Fills `error` (may be NULL) with a copy of `cause` and returns its status. */
fm_status fm_error_copy(fm_error *error, const fm_error *cause);

/* calloc that reports; NULL after a failure. */
void *fm_allocate(size_t size, fm_error *error);

#endif
