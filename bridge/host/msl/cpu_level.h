// Which instructions compiled kernels may use: the levels of the x86-64 psABI, or armv8-a.
#pragma once
#include <string>
#include <vector>

namespace msl {

// Values of -march that this CPU runs, best first; from the one on that FLASHMETAL_CPU names.
const std::vector<std::string> &cpu_levels();
// What is wrong with FLASHMETAL_CPU, which is ignored then; empty: nothing.
std::string cpu_level_fault();
// Options that make the compiler use the level, and nothing but its instructions.
std::vector<std::string> cpu_options(const std::string &level);
// Whether a kernel can be compiled for the level on a machine like this one.
bool is_cpu_level(const std::string &level);

}  // namespace msl
