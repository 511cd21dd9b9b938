#include "lexer.h"

namespace msl {
namespace {

bool is_digit(char c) {
    return c >= '0' && c <= '9';
}

// Bytes of UTF-8 sequences count as letters, as clang takes most of them for identifiers.
bool is_letter(char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_' ||
           static_cast<unsigned char>(c) >= 0x80;
}

class Lexer {
  public:
    explicit Lexer(std::string_view text) : text_(text) {}

    std::vector<Token> run() {
        while (at_ < text_.size()) {
            if (!skip_blank()) take();
        }
        return std::move(tokens_);
    }

  private:
    char peek(size_t ahead = 0) const {
        return at_ + ahead < text_.size() ? text_[at_ + ahead] : '\0';
    }

    // A directive's line may go on behind a backslash.
    void skip_line() {
        while (at_ < text_.size() && peek() != '\n')
            at_ += peek() == '\\' ? 2 : 1;
    }

    void skip_comment() {
        const size_t end = text_.find("*/", at_ + 2);
        at_ = end == std::string_view::npos ? text_.size() : end + 2;
    }

    bool skip_blank() {
        const char c = peek();
        if (c == '\n') {
            line_start_ = true;
            at_++;
        } else if (c == ' ' || c == '\t' || c == '\r' || c == '\f' || c == '\v') {
            at_++;
        } else if ((c == '#' && line_start_) || (c == '/' && peek(1) == '/')) {
            skip_line();
        } else if (c == '/' && peek(1) == '*') {
            skip_comment();
        } else {
            return false;
        }
        return true;
    }

    void add(TokenKind kind, size_t start) {
        tokens_.push_back({kind, start, text_.substr(start, at_ - start)});
    }

    void take() {
        const size_t start = at_;
        const char c = peek();
        line_start_ = false;
        if (is_letter(c)) {
            while (is_letter(peek()) || is_digit(peek()))
                at_++;
            add(TokenKind::Identifier, start);
        } else if (is_digit(c) || (c == '.' && is_digit(peek(1)))) {
            skip_number();
            add(TokenKind::Number, start);
        } else if (c == '"' || c == '\'') {
            skip_quoted(c);
            add(c == '"' ? TokenKind::String : TokenKind::Character, start);
        } else {
            at_ += punctuator_length();
            add(TokenKind::Punctuator, start);
        }
    }

    // A preprocessing number: an exponent's sign belongs to it, so that 1e-5h is one token.
    void skip_number() {
        const bool hexadecimal = peek() == '0' && (peek(1) == 'x' || peek(1) == 'X');
        while (is_letter(peek()) || is_digit(peek()) || peek() == '.' ||
               (peek() == '\'' && is_digit(peek(1)))) {
            const char c = peek() | 0x20;
            const bool exponent = c == 'p' || (c == 'e' && !hexadecimal);
            at_++;
            if (exponent && (peek() == '+' || peek() == '-')) at_++;
        }
    }

    void skip_quoted(char quote) {
        at_++;
        while (at_ < text_.size() && peek() != quote && peek() != '\n') {
            at_ += peek() == '\\' && at_ + 1 < text_.size() ? 2 : 1;
        }
        if (peek() == quote) at_++;
    }

    // << and >> stay apart: the second of them may close two template argument lists.
    size_t punctuator_length() const {
        static constexpr std::string_view pairs[] = {
            "::", "->", "==", "!=", "<=", ">=", "&&", "||", "+=",
            "-=", "*=", "/=", "%=", "&=", "|=", "^=", "++", "--"};
        for (const std::string_view pair : pairs) {
            if (text_.substr(at_, 2) == pair) return 2;
        }
        return 1;
    }

    std::string_view text_;
    size_t at_ = 0;
    bool line_start_ = true;
    std::vector<Token> tokens_;
};

}  // namespace

std::vector<Token> lex(std::string_view text) {
    return Lexer(text).run();
}

}  // namespace msl
