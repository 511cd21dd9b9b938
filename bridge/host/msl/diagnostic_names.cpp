#include "diagnostic_names.h"

#include "unsupported.h"

#include <regex>

namespace msl {
namespace {

constexpr size_t LONGEST = 4000;  // characters; std::regex recurses for each

// Less "; did you mean 'NAME'?", where that is none of Metal's.
std::string without_proposal(std::string message) {
    static const std::string start = "; did you mean '", end = "'?";
    const size_t at = message.find(start);
    const size_t close = at == std::string::npos ? at : message.find(end, at + start.size());
    if (close == std::string::npos) return message;
    const size_t name = at + start.size();
    if (is_proposable(message.substr(name, close - name))) return message;
    return message.erase(at, close + end.size() - at);
}

}  // namespace

bool is_proposable(std::string_view name) {
    const size_t scope = name.rfind("::");
    const std::string_view word = scope == name.npos ? name : name.substr(scope + 2);
    return name.find("msl_") == name.npos && name.find("__msl") == name.npos &&
           word.substr(0, 2) != "__" && !is_foreign(word);
}

std::string user_names(std::string message) {
    message = without_proposal(std::move(message));
    if (message.size() > LONGEST) return message;
    static const std::pair<std::regex, const char *> changes[] = {
        {std::regex(R"(\b_Float16\b)"), "half"},
        {std::regex(R"(\b__msl_tgvar\b|\bstatic thread_local\b)"), "threadgroup"},
        {std::regex(R"(no setter defined for property '.*')"),
         "vector is not assignable (contains duplicate components)"},
        {std::regex(R"(\bunsigned char\b(?=, \d>))"), "uchar"},
        {std::regex(R"(\bunsigned short\b(?=, \d>))"), "ushort"},
        {std::regex(R"(\bunsigned int\b(?=, \d>))"), "uint"},
        {std::regex(R"(\bunsigned long\b(?=, \d>))"), "ulong"},
        {std::regex(R"((?:metal::)?\bvec<(\w+), (\d)>)"), "$1$2"},
        {std::regex(R"((?:metal::)?\bpacked_vec<(\w+), (\d)>)"), "packed_$1$2"},
        {std::regex(R"((?:metal::)?\bmatrix<(\w+), (\d), (\d)>)"), "$1$2x$3"},
        {std::regex(R"('([^']*)' \(aka '\1'\))"), "'$1'"},
        // What the classes of vectors call themselves.
        {std::regex(R"('((?:const )?)(?:vector|flags)[ *&]*' \(aka '[^']*?(\w+\d)( ?[*&]?)'\))"),
         "'$1$2$3'"},
        {std::regex(R"(\b18446744073709551615(UL)?\b)"), "dynamic_extent"},
        {std::regex(R"(\b__msl_(defined|limit\d+|named)_)"), ""},
        {std::regex(R"(\b__at_(\w+))"), "$1"},
        {std::regex(R"(\b__msl::)"), "metal::"},
    };
    for (const auto &[pattern, name] : changes) {
        message = std::regex_replace(message, pattern, name);
    }
    return message;
}

std::string without_requirement(const std::string &message) {
    static const std::string start = "static assertion failed due to requirement '", end = "': ";
    if (message.compare(0, start.size(), start) != 0) return message;
    const size_t at = message.find(end, start.size());
    return at == std::string::npos ? message : message.substr(at + end.size());
}

}  // namespace msl
