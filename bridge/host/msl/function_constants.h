// constant T name [[function_constant(index)]];
#pragma once
#include "declarations.h"
#include "msl.h"

namespace msl {

// Gives each the value that the request has for its index, where it has one.
void define_function_constants(Tokens &tokens, const std::vector<Declaration> &declarations);

// C++ that states the request's values, to stand before the user's text.
std::string function_constant_values(const msl_request &request);

// The same for people and for comparison: "2=true,400=32".
std::string describe_function_constants(const msl_request &request);

}  // namespace msl
