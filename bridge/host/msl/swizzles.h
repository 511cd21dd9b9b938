// Which swizzles a text uses. Declaring all 300 of each vector would cost more time than all the
// rest of our headers.
#pragma once
#include "tokens.h"

namespace msl {

// Macros for msl_swizzle.h, to stand before metal_stdlib.
std::string declare_swizzles(const Tokens &tokens);

}  // namespace msl
