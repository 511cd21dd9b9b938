// MSL attributes: [[name(argument), ...]].
#pragma once
#include "text_error.h"
#include "tokens.h"

#include <optional>

namespace msl {

struct Attribute {
    std::string name;
    std::string argument;  // the text between the parentheses
    size_t token = 0;      // of the name
    Position position;     // of the argument, or of the name where it has none
};

using Attributes = std::vector<Attribute>;

// Adds what the group that opens at k holds; returns the index of its last bracket.
size_t read_attributes(const Tokens &tokens, size_t k, Attributes &found);

// Clang skips what it does not know up to the bracket that it takes for the closing one, which
// hides whatever lies between.
std::optional<TextError> find_unbalanced_attributes(const Tokens &tokens);

const Attribute *find_attribute(const Attributes &attributes, std::string_view name);

// What adjacent string literals spell together.
std::string string_value(const std::string &literals);

}  // namespace msl
