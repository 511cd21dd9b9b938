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

// Words that begin declarations of other things than variables.
bool begins_other(std::string_view word) {
    return among(word, {"using", "typedef", "namespace", "static_assert", "template", "friend",
                        "extern", "concept", "kernel"});
}

// `(*name)[4]`, `(*name[4])(int)`: whether the parenthesis at k holds a variable's name, and not a
// function's parameters.
bool holds_declarator(const Tokens &tokens, size_t k) {
    if (!among(tokens[k + 1], {"*", "&"})) return false;
    const size_t behind = tokens.closing(k) + 1;
    return tokens[behind] == "(" || tokens[behind] == "[";
}

// Whether the parenthesis at k holds a value, and not a function's parameters.
bool holds_value(const Tokens &tokens, size_t k) {
    const std::string_view first = tokens[k + 1];
    return tokens.is(k + 1, TokenKind::Number) || tokens.is(k + 1, TokenKind::String) ||
           among(first, {"-", "+", "!", "~", "true", "false", "nullptr"});
}

// Reads the declaration of a variable, of which clang says that it is well-formed.
class Variable {
  public:
    explicit Variable(const Tokens &tokens) : tokens_(tokens) {}

    // The name of the variable that tokens first..last declare; 0 where they declare none, or one
    // that cannot change.
    size_t mutable_name(size_t first, size_t last) {
        for (size_t k = first; k <= last; k++) {
            const std::string_view token = tokens_[k];
            if (token == "constexpr" || token == "operator") return 0;
            const bool value = token == "(" && words_ > 1 && holds_value(tokens_, k);
            if (among(token, {";", "=", "[", ",", "{"}) || value) {
                if (!skips(token, k)) return words_ > 1 && !constant_ ? name_ : 0;
            } else if (token == "(" && !holds_declarator(tokens_, k)) {
                return 0;
            } else {
                k = read(k, last);
            }
        }
        return 0;
    }

  private:
    // Brackets that are part of the type: attributes, and the members of a class.
    bool skips(std::string_view token, size_t &k) {
        const bool members = token == "{" && type_;
        if (!members && !tokens_.opens_attributes(k)) return false;
        k = tokens_.closing(k);
        if (members) words_ = 1, type_ = false;
        return true;
    }

    // The last token of what starts at k.
    size_t read(size_t k, size_t last) {
        const std::string_view token = tokens_[k];
        if (among(token, {"alignas", "decltype", "__attribute__"})) {
            words_ += token == "decltype";
            return tokens_.closing(k + 1);
        }
        if (token == "<") return tokens_.closing_angle(k);
        if (token == ":" && type_) {
            // An enumeration's integer type is none of its words, nor a base class.
            while (k < last && tokens_[k + 1] != "{" && tokens_[k + 1] != ";")
                k++;
        } else if (token == "*") {
            constant_ = false;  // What it points to may be; the pointer itself is not.
        } else if (is_constant(token)) {
            constant_ = true;
        } else if (defines_type(token)) {
            type_ = true;
        } else if (tokens_.is(k, TokenKind::Identifier) && token != "static" && token != "inline") {
            words_++;
            name_ = k;
        }
        return k;
    }

    const Tokens &tokens_;
    size_t words_ = 0, name_ = 0;
    bool type_ = false, constant_ = false;
};

size_t behind_template(const Tokens &tokens, size_t k) {
    while (tokens[k] == "template" && tokens[k + 1] == "<")
        k = tokens.closing_angle(k + 1) + 1;
    return k;
}

// A `static` at k, within braces: the name of a variable that can change, or 0.
size_t mutable_static(const Tokens &tokens, size_t k) {
    if (tokens[k] != "static") return 0;
    size_t first = k;
    while (first > 0 && tokens.is(first - 1, TokenKind::Identifier))
        first--;
    for (size_t q = first; q < tokens.size() && tokens[q] != ";" && tokens[q] != "="; q++) {
        if (tokens[q] == "threadgroup") return 0;
    }
    return Variable(tokens).mutable_name(first, tokens.size() - 1);
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
            const size_t name = Variable(tokens).mutable_name(first, declaration.last);
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
