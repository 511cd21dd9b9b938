#include "level_functions.h"

namespace native::NATIVE_LEVEL {

extern const Level LEVEL;
const Level LEVEL = {
    NATIVE_LEVEL_NAME, attend, merge, classify_tiles, prefill, multiply_add, read,
};

}  // namespace native::NATIVE_LEVEL
