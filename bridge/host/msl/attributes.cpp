#include "attributes.h"

#include <algorithm>

namespace msl {

size_t read_attributes(const Tokens &tokens, size_t k, Attributes &found) {
    const size_t last = std::min(tokens.closing(k), tokens.size() - 1);
    for (size_t q = k + 2; q < last; q++) {
        if (!tokens.is(q, TokenKind::Identifier)) continue;
        Attribute attribute{std::string(tokens[q]), "", q, tokens.position(q)};
        if (tokens[q + 1] == "(") {
            const size_t close = std::min(tokens.closing(q + 1), last);
            if (close > q + 2) {
                attribute.argument = tokens.between(q + 2, close - 1);
                attribute.position = tokens.position(q + 2);
            }
            q = close;
        }
        found.push_back(std::move(attribute));
    }
    return last;
}

std::optional<TextError> find_unbalanced_attributes(const Tokens &tokens) {
    for (size_t k = 0; k < tokens.size(); k++) {
        if (!tokens.opens_attributes(k)) continue;
        std::string closing;  // what the open brackets wait for
        do {
            const std::string_view token = tokens[k];
            if (token == "(") closing += ')';
            if (token == "[") closing += ']';
            if (token == "{") closing += '}';
            if (token == ")" || token == "]" || token == "}") {
                if (token[0] != closing.back()) {
                    return TextError{tokens.position(k), "expected '" +
                                                             closing.substr(closing.size() - 1) +
                                                             "' in these attributes"};
                }
                closing.pop_back();
            }
        } while (!closing.empty() && ++k < tokens.size());
    }
    return {};
}

const Attribute *find_attribute(const Attributes &attributes, std::string_view name) {
    for (const Attribute &attribute : attributes) {
        if (attribute.name == name) return &attribute;
    }
    return nullptr;
}

std::string string_value(const std::string &literals) {
    std::string value;
    for (const Token &token : lex(literals)) {
        if (token.kind == TokenKind::String && token.text.size() >= 2) {
            value += token.text.substr(1, token.text.size() - 2);
        }
    }
    return value;
}

}  // namespace msl
