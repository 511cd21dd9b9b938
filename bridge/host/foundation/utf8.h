#ifndef HM_UTF8_H
#define HM_UTF8_H

#include <stdbool.h>
#include <stddef.h>

/* As Unicode has it: no overlong forms, no surrogates, nothing above U+10FFFF. */
bool hm_utf8_is_valid(const char *text, size_t length);

/* UTF-16 code units of valid UTF-8. */
size_t hm_utf8_utf16_length(const char *text, size_t length);

#endif
