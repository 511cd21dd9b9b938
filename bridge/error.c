#include "error.h"
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void fm_error_clear(fm_error *error) {
    if (!error) return;
    free(error->message);
    *error = (fm_error){0};
}

/* NULL when memory ran out. */
__attribute__((format(printf, 1, 0))) static char *format_text(const char *format,
                                                               va_list arguments) {
    va_list again;
    va_copy(again, arguments);
    int length = vsnprintf(NULL, 0, format, again);
    va_end(again);
    char *text = length < 0 ? NULL : malloc((size_t)length + 1);
    if (text) vsnprintf(text, (size_t)length + 1, format, arguments);
    return text;
}

fm_status fm_fail(fm_error *error, fm_status status, const char *format, ...) {
    if (!error) return status;
    fm_error_clear(error);
    va_list arguments;
    va_start(arguments, format);
    error->message = format_text(format, arguments);
    va_end(arguments);
    error->status = status;
    snprintf(error->domain, sizeof error->domain, "flashmetal");
    return status;
}

fm_status fm_error_copy(fm_error *error, const fm_error *cause) {
    if (!error) return cause->status;
    fm_fail(error, cause->status, "%s", cause->message ? cause->message : "");
    error->code = cause->code;
    memcpy(error->domain, cause->domain, sizeof error->domain);
    return cause->status;
}

void *fm_allocate(size_t size, fm_error *error) {
    void *memory = malloc(size);
    if (!memory) {
        fm_fail(error, FM_ALLOCATION_FAILED, "out of memory: %zu bytes", size);
        return NULL;
    }
    /* Keeps this from becoming a calloc, which is slow where threads have a cache for malloc. */
    __asm__("" : "+r"(memory));
    return memset(memory, 0, size);
}
