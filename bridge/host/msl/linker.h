// Makes a shared object of one object file.
#pragma once
#include "toolchain.h"

namespace msl {

// Throws Failure, of kind SOURCE where a function is declared and nowhere defined.
std::string link(const Toolchain &toolchain, const std::string &object);

}  // namespace msl
