// Functions, methods and specialisations that differ in address spaces alone.
#pragma once
#include "tokens.h"

namespace msl {

bool is_address_space(std::string_view word);

// C++ has one address space, in which such declarations are one and the same: removes all but the
// first of them.
void collapse_overloads(Tokens &tokens);

}  // namespace msl
