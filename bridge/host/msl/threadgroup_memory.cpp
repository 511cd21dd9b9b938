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

// Whatever the order of threads, the first that comes by initialises for its threadgroup: before it
// runs, the engine fills its memory with ones.
std::string initialiser(const std::string &name, const std::string &value) {
    const std::string flag = "__msl_unset_" + name, from = "__msl_initial_" + name;
    return " static thread_local unsigned char " + flag + "; if (__msl::is_unset(" + flag +
           ")) { const __msl::remove_cv_t<decltype(" + name + ")> " + from + " = " + value +
           "; __msl::initialise((threadgroup void *)&" + name + ", &" + from + ", sizeof " + name +
           "); }";
}

// Of the declarators from k to the semicolon: T a[2] = {0}, b = 1;
void move_initialisers(Tokens &tokens, size_t k) {
    std::string statements;
    std::string name;
    for (; k < tokens.size() && tokens[k] != ";"; k++) {
        if (tokens[k] == "<") k = tokens.closing_angle(k);
        if (tokens[k] == "[") k = tokens.closing(k);
        if (tokens.is(k, TokenKind::Identifier)) name = tokens[k];
        if (tokens[k] != "=") continue;
        const size_t first = k + 1;
        while (k + 1 < tokens.size() && tokens[k + 1] != ";" && tokens[k + 1] != ",") {
            k++;
            if (tokens[k] == "{" || tokens[k] == "(" || tokens[k] == "[") k = tokens.closing(k);
        }
        if (k >= tokens.size()) return;
        std::string value = tokens.text(first, k);
        for (char &c : value)
            c = c == '\n' ? ' ' : c;
        statements += initialiser(name, value);
        tokens.blank(first - 1, k);
    }
    if (!statements.empty() && k < tokens.size()) tokens.replace(k, ";" + statements);
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
            move_initialisers(tokens, k + 1);
        }
    }
}

}  // namespace msl
