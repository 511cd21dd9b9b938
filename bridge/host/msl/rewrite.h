// Turns preprocessed MSL into C++ that clang compiles behind our metal_stdlib.
#pragma once
#include "kernels.h"

namespace msl {

struct Rewritten {
    std::string text;
    std::string swizzles;  // see swizzles.h
    std::vector<Kernel> kernels;
};

Rewritten rewrite(std::string preprocessed);

}  // namespace msl
