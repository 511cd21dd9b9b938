// Rules of MSL that the headers check while a kernel runs.
#pragma once
#include <cstdint>

namespace simt {

[[noreturn]] void report_misuse(uint64_t site, const char *what);

}  // namespace simt
