// The compiler that kernels are compiled with.
#pragma once
#include <string>

namespace msl {

struct Toolchain {
    std::string compiler;  // path of a clang++
    std::string version;   // its first line about itself
    std::string linker;    // path
    bool lld = false;      // the linker is LLVM's: faster, and it needs no file to write to

    int major() const;  // of clang's version; 0 where it does not say so

    static constexpr int OLDEST = 19;  // of clang: knows _Float16 on every x86-64
};

// The file that FLASHMETAL_CLANG names, or the newest clang++ on PATH. Throws Failure when there
// is none.
std::string find_compiler();

// Runs the compiler to ask it. Throws Failure when it is too old or no clang, or without a linker.
Toolchain ask_compiler(const std::string &compiler);

}  // namespace msl
