// Pointers that change their address space.
#pragma once
#include "tokens.h"

namespace msl {

// C++ knows one address space, so that its compiler does not see such mistakes. This finds the
// plain ones: initialising, assigning or casting to a pointer with the name of another. Where a
// name means several things in one function, it is silent. Throws TextError.
void check_address_spaces(const Tokens &tokens);

}  // namespace msl
