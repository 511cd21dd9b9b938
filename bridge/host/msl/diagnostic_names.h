// The names that our headers give to MSL's types never reach the user.
#pragma once
#include <string>

namespace msl {

std::string user_names(std::string message);

}  // namespace msl
