// Kernel arguments that no memory of the host's can be: pointers and references to `thread`, which
// is where a type lies that names no address space.
#pragma once
#include "kernels.h"

namespace msl {

// What clang has to read behind a spaced text: a line for each argument that may be one.
std::string argument_checks(const std::vector<Kernel> &kernels);

// Of what clang says about the same kernels.
std::optional<TextError> find_unspaced_argument(const std::string &printed,
                                                const std::vector<Kernel> &kernels);

}  // namespace msl
