#include "diagnostic_names.h"

#include <regex>

namespace msl {

std::string user_names(std::string message) {
    static const std::pair<std::regex, const char *> changes[] = {
        {std::regex(R"(\b_Float16\b)"), "half"},
        {std::regex(R"(\b__msl_tgvar\b|\bstatic thread_local\b)"), "threadgroup"},
        {std::regex(R"(\bmetal::bfloat\b)"), "bfloat"},
        {std::regex(R"(\bunsigned char\b(?=, \d>))"), "uchar"},
        {std::regex(R"(\bunsigned short\b(?=, \d>))"), "ushort"},
        {std::regex(R"(\bunsigned int\b(?=, \d>))"), "uint"},
        {std::regex(R"(\bunsigned long\b(?=, \d>))"), "ulong"},
        {std::regex(R"((?:metal::)?\bvec<(\w+), (\d)>)"), "$1$2"},
        {std::regex(R"((?:metal::)?\bpacked_vec<(\w+), (\d)>)"), "packed_$1$2"},
        {std::regex(R"('([^']*)' \(aka '\1'\))"), "'$1'"},
        {std::regex(R"(static assertion failed due to requirement '.*?__msl.*?': )"), ""},
        {std::regex(R"(__msl_defined_)"), ""},
        {std::regex(R"(__msl(_glue_\d+)?::)"), ""},
    };
    for (const auto &[pattern, name] : changes)
        message = std::regex_replace(message, pattern, name);
    return message;
}

}  // namespace msl
