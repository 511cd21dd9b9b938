#include "threadgroup_memory.h"

#include "attributes.h"

#include <set>

namespace msl {
namespace {

// The metal_stdlib macro for `static thread_local`; of the same width, so that columns stay.
constexpr const char *STORAGE = "__msl_tgvar";
// Likewise, where the word that it stands for is another place of the declaration.
constexpr const char *STATIC = "__msl_tgstatic ";
constexpr const char *ATTRIBUTE = "msl_tgattr ";

// Words of a declaration with an argument in parentheses.
bool takes_argument(std::string_view word) {
    return word == "alignas" || word == "_Alignas" || word == "__attribute__" || word == "decltype";
}

bool is_qualifier(std::string_view word) {
    return word == "threadgroup" || word == "const" || word == "volatile" || word == "static";
}

bool begins_no_declaration(std::string_view word) {
    return word == "return" || word == "typedef" || word == "using" || word == "else" ||
           word == "case" || word == "template" || word == "operator";
}

// Past what is one thing in a declaration: a word with its argument, attributes, arguments of a
// template.
size_t past(const Tokens &tokens, size_t k) {
    if (takes_argument(tokens[k]) && tokens[k + 1] == "(") return tokens.closing(k + 1) + 1;
    if (tokens.opens_attributes(k)) return tokens.closing(k) + 1;
    return (tokens[k] == "<" ? tokens.closing_angle(k) : k) + 1;
}

// Whether only specifiers stand between the start of a statement and k.
bool are_specifiers(const Tokens &tokens, size_t start, size_t k) {
    for (size_t at = start; at < k; at = past(tokens, at)) {
        const bool joins = tokens[at] == "::" || tokens[at] == "<" || tokens[at] == "*";
        if (!joins && !tokens.opens_attributes(at) && !tokens.is(at, TokenKind::Identifier))
            return false;
        if (begins_no_declaration(tokens[at])) return false;
    }
    return true;
}

// Whether what follows `threadgroup` at k declares storage, not a pointer or reference to some.
bool declares_storage(const Tokens &tokens, size_t k) {
    for (k++; k < tokens.size(); k = past(tokens, k)) {
        const std::string_view token = tokens[k];
        if (token == "*" || token == "&" || token == "&&" || token == "(") return false;
        if (token == ";" || token == "=" || token == "," || token == "{") return true;
        if (token == "[" && !tokens.opens_attributes(k)) return true;
    }
    return false;
}

// The first token of the declaration behind what stands for all of it: attributes, alignments.
size_t specifiers(const Tokens &tokens, size_t start) {
    size_t first = start;
    for (size_t k = start;
         is_qualifier(tokens[k]) || takes_argument(tokens[k]) || tokens.opens_attributes(k);) {
        const bool qualifies = is_qualifier(tokens[k]);
        k = past(tokens, k);
        if (!qualifies) first = k;
    }
    return first;
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
        if (takes_argument(tokens[k])) k++;
        if (tokens[k] == "[" || tokens[k] == "(") k = tokens.closing(k);
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

// The declaration from `start`, with `threadgroup` at k.
void make_storage(Tokens &tokens, size_t start, size_t k) {
    const size_t first = specifiers(tokens, start);
    for (size_t at = start; at < k; at = past(tokens, at)) {
        if (tokens[at] == "static") tokens.replace(at, "");
    }
    size_t behind = first;
    while (behind < k && is_qualifier(tokens[behind]))
        behind++;
    if (behind == k) {
        tokens.replace(k, STORAGE);
    } else {
        tokens.insert_before(first, STATIC);
    }
    move_initialisers(tokens, k + 1);
}

// What `typedef threadgroup T name;` or `using name = threadgroup T;` from k names; empty where
// that is another type.
std::string_view threadgroup_alias(const Tokens &tokens, size_t k) {
    const bool uses = tokens[k] == "using";
    if (!uses && tokens[k] != "typedef") return {};
    std::string_view name = uses ? tokens[k + 1] : std::string_view();
    bool found = false;
    for (size_t at = k + 1; at < tokens.size() && tokens[at] != ";"; at = past(tokens, at)) {
        if (tokens[at] == "threadgroup" && declares_storage(tokens, at)) found = true;
        if (!uses && tokens.is(at, TokenKind::Identifier)) name = tokens[at];
        if (tokens[at] == "[") at = tokens.closing(at);
    }
    return found ? name : std::string_view();
}

}  // namespace

void rewrite_threadgroup_memory(Tokens &tokens) {
    std::set<std::string_view> aliases;
    size_t depth = 0, start = 0;
    for (size_t k = 0; k < tokens.size(); k++) {
        const std::string_view token = tokens[k];
        if (token == "{") depth++;
        if (token == "}" && depth > 0) depth--;
        if (token == ";" || token == "{" || token == "}") start = k + 1;
        if (tokens.opens_attributes(k)) rename_attribute(tokens, k);
        if (token == "threadgroup" && depth > 0 && are_specifiers(tokens, start, k) &&
            declares_storage(tokens, k)) {
            make_storage(tokens, start, k);
        }
        if (k != start) continue;
        const std::string_view alias = threadgroup_alias(tokens, k);
        if (!alias.empty()) aliases.insert(alias);
        if (depth > 0 && aliases.count(token) && tokens.is(k + 1, TokenKind::Identifier)) {
            tokens.insert_before(k, STATIC);
            move_initialisers(tokens, k + 1);
        }
    }
}

}  // namespace msl
