/* Conversions between C and Foundation. */
#import "internal.h"
#include <stdio.h>

fm_status fm_fail_with(fm_error *error, fm_status status, NSError *cause, const char *fallback) {
    const char *text = cause.localizedDescription.UTF8String;
    fm_fail(error, status, "%s", text ? text : fallback);
    if (error && cause) {
        const char *domain = cause.domain.UTF8String;
        error->code = cause.code;
        snprintf(error->domain, sizeof error->domain, "%s", domain ? domain : "");
    }
    return status;
}

NSString *fm_string(const char *text, const char *what, fm_error *error) {
    NSString *string = text ? [NSString stringWithUTF8String:text] : nil;
    if (!string)
        fm_fail(error, FM_INVALID_ARGUMENT, "%s is %s", what, text ? "not valid UTF-8" : "NULL");
    return string;
}
