// What is compiled once for each CPU level, of the same source.
#pragma once
#include "decode_part.h"

namespace native {

struct Level {
    const char *name;
    void (*attend)(const DecodePart &part);
    void (*merge)(const DecodeMerge &merge);
};

}  // namespace native
