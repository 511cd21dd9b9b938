// MSL text in, shared object out.
#pragma once
#include "msl.h"
#include "toolchain.h"

namespace msl {

struct Compilation {
    const msl_request &request;
    const Toolchain &toolchain;
    std::string cpu_level;
    std::string headers;    // the folder of metal_stdlib
    std::string temporary;  // a private folder
};

// Writes the library to `output`. Throws Failure.
void compile(const Compilation &compilation, const std::string &output);

}  // namespace msl
