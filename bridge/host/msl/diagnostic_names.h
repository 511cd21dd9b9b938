// The names that our headers give to MSL's types never reach the user.
#pragma once
#include <string>

namespace msl {

std::string user_names(std::string message);

// The text of a static assertion of ours, without the condition in front of it.
std::string without_requirement(const std::string &message);

// Whether a name that clang proposes instead of the user's is one that a user can write.
bool is_proposable(std::string_view name);

}  // namespace msl
