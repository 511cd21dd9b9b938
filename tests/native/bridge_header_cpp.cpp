#include "flashmetal.h"

extern "C" const char *version_from_cpp(void);

const char *version_from_cpp() {
    return fm_version();
}
