// Files that a preprocessed text was made of.
#pragma once
#include "lines.h"

#include <optional>

namespace msl {

struct Inclusion {
    std::string file;
    Position at;  // of the directive; without a column
};

// The first file that lies neither in `folder` nor only in the compiler.
std::optional<Inclusion> find_inclusion_outside(const std::string &folder,
                                                std::string_view preprocessed);

}  // namespace msl
