#include "flashmetal.h"

const char *fm_version(void) {
    return FM_VERSION;
}
