#include "storage.h"

#include <algorithm>

namespace msl {
namespace {

bool among(std::string_view word, std::initializer_list<std::string_view> words) {
    return std::find(words.begin(), words.end(), word) != words.end();
}

bool is_constant(std::string_view word) {
    return among(word, {"constant", "const", "constexpr"});
}

bool defines_type(std::string_view word) {
    return among(word, {"struct", "class", "union", "enum"});
}

// Words that begin declarations of other things than variables.
bool begins_other(std::string_view word) {
    return among(word, {"using", "typedef", "namespace", "static_assert", "template", "friend",
                        "extern", "concept", "kernel"});
}

// The name of the variable that tokens first..last declare; 0 where they declare none, or one that
// cannot change.
size_t mutable_name(const Tokens &tokens, size_t first, size_t last) {
    size_t words = 0, name = 0;
    bool type = false;
    for (size_t k = first; k <= last; k++) {
        const std::string_view token = tokens[k];
        if (tokens.opens_attributes(k)) {
            k = tokens.closing(k);
        } else if (among(token, {"alignas", "decltype", "__attribute__"})) {
            if (token == "decltype") words++;
            k = tokens.closing(k + 1);
        } else if (is_constant(token) || token == "operator" || token == "(") {
            return 0;
        } else if (defines_type(token)) {
            type = true;
        } else if (token == "<") {
            k = tokens.closing_angle(k);
        } else if (token == "{" && type) {
            k = tokens.closing(k);
            type = false;
            words = 1;  // the type of what follows
        } else if (token == ":" && type) {
            // An enumeration's integer type is none of its words, nor a base class.
            while (k < last && tokens[k + 1] != "{" && tokens[k + 1] != ";")
                k++;
        } else if (among(token, {";", "=", "[", ",", "{"})) {
            return words > 1 ? name : 0;
        } else if (tokens.is(k, TokenKind::Identifier) && token != "static" && token != "inline") {
            words++;
            name = k;
        }
    }
    return 0;
}

size_t behind_template(const Tokens &tokens, size_t k) {
    while (tokens[k] == "template" && tokens[k + 1] == "<")
        k = tokens.closing_angle(k + 1) + 1;
    return k;
}

// A `static` at k, within braces: the name of a variable that can change, or 0.
size_t mutable_static(const Tokens &tokens, size_t k) {
    if (tokens[k] != "static") return 0;
    for (size_t q = k;
         q > 0 && tokens[q - 1] != ";" && tokens[q - 1] != "{" && tokens[q - 1] != "}"; q--) {
        if (is_constant(tokens[q - 1])) return 0;
    }
    for (size_t q = k; q < tokens.size() && tokens[q] != ";" && tokens[q] != "="; q++) {
        if (tokens[q] == "threadgroup") return 0;
    }
    return mutable_name(tokens, k, tokens.size() - 1);
}

TextError misplaced(const Tokens &tokens, size_t name, const char *kind) {
    return {tokens.position(name),
            std::string(kind) + " variable must reside in constant address space"};
}

}  // namespace

std::optional<TextError> find_mutable_variable(const Tokens &tokens,
                                               const std::vector<Declaration> &declarations) {
    for (const Declaration &declaration : declarations) {
        const size_t first = behind_template(tokens, declaration.first);
        if (declaration.body > declaration.last && !begins_other(tokens[first])) {
            const size_t name = mutable_name(tokens, first, declaration.last);
            if (name != 0) return misplaced(tokens, name, "program scope");
        }
        size_t depth = 0;
        for (size_t k = declaration.first; k <= declaration.last; k++) {
            depth += tokens[k] == "{";
            depth -= tokens[k] == "}" && depth > 0;
            const size_t name = depth > 0 ? mutable_static(tokens, k) : 0;
            if (name != 0) return misplaced(tokens, name, "static local");
        }
    }
    return {};
}

}  // namespace msl
