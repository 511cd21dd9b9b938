// Room between threadgroup variables.
#pragma once
#include <string>

namespace msl {

// How clang has to compile what is given to leave_gaps: a section for each variable.
inline constexpr const char *GAP_OPTIONS[] = {"-fdata-sections"};

// Makes room behind each thread-local variable of an object file that is no part of any, so that
// checks find accesses there. Those with initial values, of which kernels have none, get no room.
void leave_gaps(std::string &object);

}  // namespace msl
