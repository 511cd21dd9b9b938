// The compiler that kernels are compiled with.
#pragma once
#include <string>

namespace msl {

struct Toolchain {
    std::string compiler;  // path of a clang++
    std::string version;   // its first line about itself
    bool lld = false;      // it finds LLVM's linker, which is faster than the system's

    static constexpr int OLDEST = 19;  // of clang: knows _Float16 on every x86-64
};

// The file that FLASHMETAL_CLANG names, or the newest clang++ on PATH. Throws Failure when there
// is none.
std::string find_compiler();

// Runs the compiler to ask it. Throws Failure when it is too old or no clang.
Toolchain ask_compiler(const std::string &compiler, const std::string &temporary);

}  // namespace msl
