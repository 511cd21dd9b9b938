// Functions that call themselves, directly or through others.
#pragma once
#include "declarations.h"
#include "text_error.h"

#include <optional>

namespace msl {

// Whether the names alone allow it. Overloads share a name, so that this says little more than
// whether a closer look is worth its time.
bool may_recurse(const Tokens &tokens, const std::vector<Declaration> &declarations);

// How clang has to compile what find_recursion reads: to functions as they were written.
inline constexpr const char *RECURSION_OPTIONS[] = {
    "-O0", "-Xclang", "-disable-llvm-passes", "-emit-llvm", "-S", "-gline-tables-only", "-o", "-"};

// In LLVM's assembly of a text: the first call that leads back to the function it stands in.
std::optional<TextError> find_recursion(const std::string &assembly, const std::string &text);

}  // namespace msl
