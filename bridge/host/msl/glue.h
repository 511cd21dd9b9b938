// The C++ behind the user's text that makes its kernels callable: an entry function and a
// description for each, in the one symbol that a compiled library exports.
#pragma once
#include "kernels.h"

namespace msl {

// The file that the glue says it is. Its line n is about the n-th kernel, from 1.
inline constexpr std::string_view GLUE_NAME = "<kernels>";

// Throws TextError for a kernel that cannot be called.
std::string glue(const std::vector<Kernel> &kernels, const std::string &source_digest,
                 const std::string &constants);

}  // namespace msl
