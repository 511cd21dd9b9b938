// Types as clang prints them, and what they say of address spaces.
#pragma once
#include <string>
#include <string_view>
#include <vector>

namespace msl {

struct PrintedType {
    // The address space of the object itself, then of what it points to, and so on; "thread" where
    // the type names none. An array is a pointer to its elements.
    std::vector<std::string_view> spaces;
    bool refers = false;
    bool constant = false;  // the object is const
    bool array = false;     // before it decays
};

// "device" for "1": what include/msl_spaces.h numbers; empty for any other number.
std::string_view space_name(std::string_view number);

// `text`: without quotes, e.g. "const __attribute__((address_space(2))) float[4]".
PrintedType read_printed_type(std::string_view text);

}  // namespace msl
