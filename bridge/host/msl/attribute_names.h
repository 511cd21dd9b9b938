// Attributes that are nearly those that make a function a kernel, or say what its arguments are.
#pragma once
#include "text_error.h"
#include "tokens.h"

#include <optional>

namespace msl {

// Clang skips an attribute that it does not know, as many mean nothing on a CPU: without one of
// these, the kernel would be another.
std::optional<TextError> find_misspelt_attribute(const Tokens &tokens);

}  // namespace msl
