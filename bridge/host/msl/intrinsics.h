// Functions of Apple's intermediate language that public sources name in __asm("air.…").
#pragma once
#include "tokens.h"

#include <string>

namespace msl {

// The header of the library that defines them; only for texts that use them.
constexpr const char *INTRINSICS_HEADER = "msl_async_copy.h";

// Whether `__asm("…")` at k names one of them.
bool names_intrinsic(const Tokens &tokens, size_t k);

// Makes them the library's own. Without address spaces the copies to and from threadgroup memory
// are one function, which has one name.
bool rewrite_intrinsics(Tokens &tokens);

}  // namespace msl
