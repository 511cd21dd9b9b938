#include "threadgroup_memory.h"

#include "attributes.h"

namespace msl {
namespace {

// The metal_stdlib macro for `static thread_local`; of the same width, so that columns stay.
constexpr const char *STORAGE = "__msl_tgvar";
constexpr const char *ATTRIBUTE = "msl_tgattr ";

// Whether only specifiers stand between the start of a statement and k.
bool starts_statement(const Tokens &tokens, size_t k) {
    while (k > 0) {
        const std::string_view before = tokens[k - 1];
        if (before == ";" || before == "{" || before == "}") return true;
        if (before != "const" && before != "volatile") return false;
        k--;
    }
    return false;
}

// Whether what follows `threadgroup` at k declares storage, not a pointer or reference to some.
bool declares_storage(const Tokens &tokens, size_t k) {
    for (k++; k < tokens.size(); k++) {
        const std::string_view token = tokens[k];
        if (token == "*" || token == "&" || token == "&&" || token == "(") return false;
        if (token == ";" || token == "=" || token == "," || token == "{") return true;
        if (token == "[" && !tokens.opens_attributes(k)) return true;
        if (token == "[") k = tokens.closing(k);
        if (token == "<") k = tokens.closing_angle(k);
    }
    return false;
}

// The macro `threadgroup` is empty, and [[(0)]] an error.
void rename_attribute(Tokens &tokens, size_t k) {
    Attributes attributes;
    read_attributes(tokens, k, attributes);
    const Attribute *threadgroup = find_attribute(attributes, "threadgroup");
    if (threadgroup) tokens.replace(threadgroup->token, ATTRIBUTE);
}

}  // namespace

void rewrite_threadgroup_memory(Tokens &tokens) {
    size_t depth = 0;
    for (size_t k = 0; k < tokens.size(); k++) {
        const std::string_view token = tokens[k];
        if (token == "{") depth++;
        if (token == "}" && depth > 0) depth--;
        if (tokens.opens_attributes(k)) rename_attribute(tokens, k);
        if (token == "threadgroup" && depth > 0 && starts_statement(tokens, k) &&
            declares_storage(tokens, k)) {
            tokens.replace(k, STORAGE);
        }
    }
}

}  // namespace msl
