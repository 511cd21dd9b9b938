// The address spaces that a text's functions take and give.
#pragma once
#include "declarations.h"

#include <map>

namespace msl {

struct Range {
    size_t first, last;  // tokens
};

struct SpacedParameter {
    std::string_view space;  // empty where it names none, or more than one
    bool refers;             // rather than points
};
using Signature = std::vector<SpacedParameter>;
using Signatures = std::map<std::string_view, std::vector<Signature>>;

// What stands between the commas of the parentheses that open at k.
std::vector<Range> split_list(const Tokens &tokens, size_t open);

// Of the functions at namespace scope, by name.
Signatures read_signatures(const Tokens &tokens, const std::vector<Declaration> &declarations);

// The address space that the declared function's result points to; empty for any other.
std::string_view read_result(const Tokens &tokens, const Declaration &declaration);

}  // namespace msl
