// The C++ behind the user's text that makes its kernels callable: an entry function and a
// description for each, in the one symbol that a compiled library exports.
#pragma once
#include "kernels.h"

namespace msl {

std::string glue(const std::vector<Kernel> &kernels, const std::string &source_digest);

}  // namespace msl
