// MSL text in, shared object out; nothing on disk between.
#pragma once
#include "msl.h"
#include "toolchain.h"

namespace msl {

struct Compilation {
    const msl_request &request;
    const Toolchain &toolchain;
    std::string cpu_level;
    std::string headers;  // the folder of metal_stdlib
};

// The bytes of a shared object that exports msl_image. Throws Failure.
std::string compile(const Compilation &compilation);

// The same for a text of few kernels; for others the list of them (list_kernels), to be compiled
// one by one. Throws Failure.
std::string check(const Compilation &compilation);

}  // namespace msl
