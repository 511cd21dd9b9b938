#include "utf8.h"
#include <stdint.h>

/* Length in bytes of the sequence at `text`; 0: it is not valid. */
static size_t sequence_length(const unsigned char *text, size_t available) {
    static const uint32_t smallest[] = {0, 0, 0x80, 0x800, 0x10000};
    unsigned char first = text[0];
    if (first < 0x80) return 1;
    size_t length = first >= 0xf0 ? 4 : first >= 0xe0 ? 3 : 2;
    if (first < 0xc0 || first >= 0xf8 || length > available) return 0;
    uint32_t point = first & (0x7f >> length);
    for (size_t i = 1; i < length; i++) {
        if ((text[i] & 0xc0) != 0x80) return 0;
        point = point << 6 | (text[i] & 0x3f);
    }
    bool surrogate = point >= 0xd800 && point < 0xe000;
    return point < smallest[length] || surrogate || point > 0x10ffff ? 0 : length;
}

bool hm_utf8_is_valid(const char *text, size_t length) {
    for (size_t i = 0, step; i < length; i += step) {
        step = sequence_length((const unsigned char *)text + i, length - i);
        if (step == 0) return false;
    }
    return true;
}

size_t hm_utf8_utf16_length(const char *text, size_t length) {
    size_t units = 0;
    for (size_t i = 0; i < length; i++) {
        unsigned char byte = (unsigned char)text[i];
        units += (byte & 0xc0) != 0x80; /* each sequence has one first byte ... */
        units += byte >= 0xf0;          /* ... and four bytes make a surrogate pair */
    }
    return units;
}
