// Reads a kernel's parameter list.
#pragma once
#include "kernels.h"

namespace msl {

// Between the parentheses `open` and `close`; the function's body is the tokens body..last.
std::vector<Parameter> read_parameters(const Tokens &tokens, size_t open, size_t close, size_t body,
                                       size_t last);

}  // namespace msl
