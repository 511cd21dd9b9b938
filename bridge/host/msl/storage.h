// Variables that have no place in Metal: those that outlive a function and can change.
#pragma once
#include "declarations.h"
#include "text_error.h"

#include <optional>

namespace msl {

// The first variable at program scope, static member or static local that is neither `constant` nor
// const. Only a text that is right but for it is known to have it.
std::optional<TextError> find_mutable_variable(const Tokens &tokens,
                                               const std::vector<Declaration> &declarations);

}  // namespace msl
