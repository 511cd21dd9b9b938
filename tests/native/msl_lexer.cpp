// The lexer: what is one token, and what is none.
#include "lexer.h"

#include "msl_test.h"

static std::string joined(std::string_view text) {
    std::string result;
    for (const msl::Token &token : msl::lex(text))
        result += std::string(token.text) + "|";
    return result;
}

static msl::TokenKind kind(std::string_view text) {
    const std::vector<msl::Token> tokens = msl::lex(text);
    CHECK(tokens.size() == 1);
    return tokens[0].kind;
}

int main() {
    using msl::TokenKind;
    CHECK_TEXT(joined("a+b_1 ->c::d"), "a|+|b_1|->|c|::|d|");
    CHECK_TEXT(joined("x[[buffer(0)]]"), "x|[|[|buffer|(|0|)|]|]|");
    CHECK_TEXT(joined("v<v<int>>y"), "v|<|v|<|int|>|>|y|");
    CHECK_TEXT(joined("a == b != c <= d += e"), "a|==|b|!=|c|<=|d|+=|e|");

    // Numbers, with the signs of their exponents and whatever suffix.
    for (const char *number : {"1", "1.0h", "1e-5h", ".5f", "0x1p-3", "1'000'000", "1.e+4", "0x1bf",
                               "0.5bf", "100ull"}) {
        CHECK(kind(number) == TokenKind::Number);
    }
    CHECK_TEXT(joined("0xe+1"), "0xe|+|1|");
    CHECK_TEXT(joined("1-1"), "1|-|1|");
    CHECK_TEXT(joined("a.b.5"), "a|.|b|.5|");

    CHECK(kind("\"a \\\" b\"") == TokenKind::String);
    CHECK(kind("'\\''") == TokenKind::Character);
    CHECK(kind("\xc3\xa4") == TokenKind::Identifier);

    // Comments and directives are no tokens; '#' inside a line is one.
    CHECK_TEXT(joined("a // b\nc /* d\ne */ f"), "a|c|f|");
    CHECK_TEXT(joined("# 1 \"x\"\n#pragma a\\\nb\n c # d"), "c|#|d|");

    // Broken off anywhere, it ends.
    CHECK_TEXT(joined("\"abc"), "\"abc|");
    CHECK_TEXT(joined("a /* b"), "a|");
    CHECK_TEXT(joined("\"abc\\"), "\"abc\\|");
    CHECK_TEXT(joined("#define x\\"), "");
    CHECK_TEXT(joined(std::string_view("a\0b", 3)), std::string_view("a|\0|b|", 6));
    CHECK_TEXT(joined(""), "");
}
