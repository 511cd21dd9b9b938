// Lines as `#line` directives and the preprocessor's markers number them.
#pragma once
#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace msl {

// The name under which diagnostics speak of the user's text.
inline constexpr std::string_view SOURCE_NAME = "program_source";

struct Position {
    std::string file;
    size_t line = 0;
    size_t column = 0;  // from 1
};

class Lines {
  public:
    explicit Lines(std::string_view text);

    Position position(size_t offset) const;
    // The text of the line that the compiler calls `file`:`line`; empty when there is none.
    std::string_view line(std::string_view file, size_t number) const;

  private:
    struct Line {
        size_t start;
        size_t number;
        size_t file;  // index into files_
    };

    std::string_view text_of(const Line &line) const;
    bool read_marker(std::string_view line, Line &next);

    std::string_view text_;
    std::vector<Line> lines_;
    std::vector<std::string> files_;
};

}  // namespace msl
