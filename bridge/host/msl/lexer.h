// Splits preprocessed MSL into the tokens that the rewriter looks at.
#pragma once
#include <cstddef>
#include <string_view>
#include <vector>

namespace msl {

enum class TokenKind { Identifier, Number, String, Character, Punctuator };

struct Token {
    TokenKind kind;
    size_t offset;  // into the text
    std::string_view text;
};

// White space, comments and lines that start with '#' yield no tokens. Every character of an
// ill-formed text still ends up in some token or gap.
std::vector<Token> lex(std::string_view text);

}  // namespace msl
