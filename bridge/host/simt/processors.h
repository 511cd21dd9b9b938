// How many processors the process may use.
#pragma once
#include <cstdint>
#include <string>

namespace simt {

// FLASHMETAL_THREADS, else what the CPU affinity and the control groups' quotas allow; at least 1.
uint32_t processors_allowed();
// What is wrong with FLASHMETAL_THREADS; empty: nothing.
std::string environment_fault();

}  // namespace simt
