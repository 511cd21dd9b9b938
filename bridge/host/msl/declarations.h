// Cuts a text into the declarations at namespace scope.
#pragma once
#include "tokens.h"

namespace msl {

struct Declaration {
    size_t first = 0, last = 0;  // tokens; the last is ';' or '}'
    size_t body = 0;             // the '{' of a definition, or one past `last`
    std::string scope;           // of namespaces around it, e.g. "outer::"
};

// Whether the word begins a class or an enumeration.
bool defines_type(std::string_view word);

std::vector<Declaration> find_declarations(const Tokens &tokens);

}  // namespace msl
