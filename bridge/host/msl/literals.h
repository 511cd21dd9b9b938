// MSL's floating-point literals: half and bfloat suffixes, and float where C++ would have double.
#pragma once
#include "tokens.h"

namespace msl {

void rewrite_literals(Tokens &tokens);

}  // namespace msl
