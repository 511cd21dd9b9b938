// Preprocessing and rewriting move text within its line; this tells where it was before.
#pragma once
#include "lexer.h"

namespace msl {

class Columns {
  public:
    // The line that the compiler read, and the line that the user wrote.
    Columns(std::string_view compiled, std::string_view source);

    // The column in the source line, from 1, of what is at `column` of the compiled one.
    size_t of(size_t column) const;
    // Likewise for one past the end of something.
    size_t end_of(size_t column) const;
    // Whether the user wrote what is at `column` of the compiled line.
    bool finds(size_t column) const;

  private:
    size_t token_before(size_t column) const;

    std::vector<Token> compiled_, source_;
    std::vector<size_t> partner_;  // of each compiled token: a source token
    std::string_view source_line_;
};

}  // namespace msl
