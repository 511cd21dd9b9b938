// Turns preprocessed MSL into C++ that clang compiles behind our metal_stdlib.
#pragma once
#include "function_constants.h"
#include "kernels.h"
#include "text_error.h"

#include <optional>

namespace msl {

struct Rewritten {
    std::string text;
    std::string spaced;    // the text while it has all its overloads: see spaced_text.h
    std::string swizzles;  // see swizzles.h
    std::vector<Kernel> kernels;
    std::vector<FunctionConstant> constants;
    // Of a text that is right in all else.
    std::string preprocessed;
    std::optional<TextError> misplaced;
    bool may_recurse = false;
    bool uses_intrinsics = false;
};

// `only`: the host's name of the kernel that is needed; null for all of them.
Rewritten rewrite(std::string preprocessed, const char *only = nullptr);

}  // namespace msl
