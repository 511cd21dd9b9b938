#include "level_functions.h"

namespace native::NATIVE_LEVEL {

extern const Level LEVEL;
const Level LEVEL = {
    NATIVE_LEVEL_NAME,
    attend,
    merge,
};

}  // namespace native::NATIVE_LEVEL
