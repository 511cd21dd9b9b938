// MSL attributes: [[name(argument), ...]].
#pragma once
#include "tokens.h"

namespace msl {

struct Attribute {
    std::string name;
    std::string argument;  // the text between the parentheses
    size_t token = 0;      // of the name
};

using Attributes = std::vector<Attribute>;

// Adds what the group that opens at k holds; returns the index of its last bracket.
size_t read_attributes(const Tokens &tokens, size_t k, Attributes &found);

const Attribute *find_attribute(const Attributes &attributes, std::string_view name);

// What adjacent string literals spell together.
std::string string_value(const std::string &literals);

}  // namespace msl
