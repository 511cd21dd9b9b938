// A text as a sequence of tokens that can be replaced; what lies between them stays as it is.
#pragma once
#include "lexer.h"
#include "lines.h"

namespace msl {

class Tokens {
  public:
    explicit Tokens(std::string text);
    Tokens(const Tokens &) = delete;  // the tokens point into the text
    Tokens &operator=(const Tokens &) = delete;

    size_t size() const { return tokens_.size(); }
    // The token as it was read; empty past the end.
    std::string_view operator[](size_t k) const {
        return k < tokens_.size() ? tokens_[k].text : std::string_view();
    }
    bool is(size_t k, TokenKind kind) const {
        return k < tokens_.size() && tokens_[k].kind == kind;
    }

    // The index of the bracket that closes the one at k, or size() when none does.
    size_t closing(size_t k) const;
    // Likewise for a '<' that opens template parameters or arguments.
    size_t closing_angle(size_t k) const;
    // Whether an attribute group [[...]] opens at k.
    bool opens_attributes(size_t k) const { return (*this)[k] == "[" && (*this)[k + 1] == "["; }

    // The text from the start of token `first` to the end of token `last`, as it is by now.
    std::string text(size_t first, size_t last) const;
    // The original text from the start of token `first` to the end of token `last`.
    std::string_view between(size_t first, size_t last) const;
    // Where clang would say that the token is.
    Position position(size_t k) const;

    void replace(size_t k, std::string text);
    void insert_before(size_t k, const std::string &text);
    // Removes the tokens first..last, for good; the lines between them stay.
    void blank(size_t first, size_t last);
    // The text with all replacements made.
    std::string text() const;

  private:
    size_t end_of(size_t k) const { return tokens_[k].offset + tokens_[k].text.size(); }
    // Of the tokens first..last - 1, which lie between two places in the original.
    std::string text(size_t first, size_t last, size_t start, size_t end) const;

    std::string original_;
    Lines lines_;
    std::vector<Token> tokens_;
    std::vector<std::string> replacements_;
    std::vector<bool> replaced_, removed_;
};

}  // namespace msl
