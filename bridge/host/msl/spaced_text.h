// A text whose address spaces clang checks: the one behind include/msl_spaces.h.
#pragma once
#include "kernels.h"

namespace msl {

// The file that its last lines claim to be in: one for each kernel.
inline constexpr const char *INSTANCES_NAME = "<instances>";

// Of a rewritten text that still has all its overloads. The templates that `kernels` are instances
// of are instantiated.
std::string spaced_text(std::string rewritten, const std::vector<Kernel> &kernels);

}  // namespace msl
