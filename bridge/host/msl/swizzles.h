// Which swizzles a text uses. Declaring all 300 of each vector would cost more time than all the
// rest of our headers.
#pragma once
#include "tokens.h"

namespace msl {

// Macros for msl_swizzle.h, to stand before metal_stdlib. Swizzles that the text changes in place
// become calls, v.__at_zx() += 1: of a property whose vector's type depends on a template's
// parameters, the compiler knows assignment only.
std::string declare_swizzles(Tokens &tokens);

}  // namespace msl
