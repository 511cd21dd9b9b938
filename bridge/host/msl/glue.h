// The C++ behind the user's text that makes its kernels callable: an entry function and a
// description for each, in the one symbol that a compiled library exports.
#pragma once
#include "function_constants.h"
#include "kernels.h"

namespace msl {

// The file that the glue says it is.
inline constexpr std::string_view GLUE_NAME = "<kernels>";

// The attributes of a kernel's parameters that say what they stand for.
std::vector<std::string_view> argument_attributes();

// What in the user's text each of its lines is about: a kernel, a parameter or an attribute. The
// lines behind them are about nothing of the user's.
std::vector<Position> glue_positions(const std::vector<Kernel> &kernels);

// What the library says of its text.
struct LibraryFacts {
    std::string source_digest, constants;  // as msl_image has them
    std::vector<DeclaredConstant> declared;
};

// Throws TextError for a kernel that cannot be called.
std::string glue(const std::vector<Kernel> &kernels, const LibraryFacts &facts);

}  // namespace msl
