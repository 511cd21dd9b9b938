/* flashmetal.h stands alone in C and, from bridge_header_cpp.cpp, in C++. */
#include "flashmetal.h"

_Static_assert(FM_OK == 0, "a zeroed error is no error");
_Static_assert(sizeof(((fm_error *)0)->domain) == 64, "the Cython core copies it");

const char *version_from_cpp(void);

int main(void) {
    return fm_version() != version_from_cpp();
}
