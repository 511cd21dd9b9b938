#include "lines.h"

#include <algorithm>
#include <cstdlib>

namespace msl {
namespace {

std::string_view without_blanks(std::string_view text) {
    return text.substr(std::min(text.find_first_not_of(" \t"), text.size()));
}

}  // namespace

Lines::Lines(std::string_view text) : text_(text), files_{std::string(SOURCE_NAME)} {
    Line next{0, 1, 0};
    while (next.start <= text.size()) {
        const size_t newline = std::min(text.find('\n', next.start), text.size());
        if (!read_marker(text.substr(next.start, newline - next.start), next)) {
            lines_.push_back(next);
            next.number++;
        }
        next.start = newline + 1;
    }
}

// `# 12 "file" flags` or `#line 12 "file"`: the line that follows is number 12.
bool Lines::read_marker(std::string_view line, Line &next) {
    line = without_blanks(line);
    if (line.empty() || line[0] != '#') return false;
    line = without_blanks(line.substr(1));
    if (line.substr(0, 4) == "line") line = without_blanks(line.substr(4));
    if (line.empty() || line[0] < '0' || line[0] > '9') return false;
    next.number = std::strtoull(std::string(line.substr(0, 20)).c_str(), nullptr, 10);
    const size_t open = line.find('"');
    const size_t close = open == std::string_view::npos ? open : line.find('"', open + 1);
    if (close != std::string_view::npos) {
        const std::string file(line.substr(open + 1, close - open - 1));
        next.file = std::find(files_.begin(), files_.end(), file) - files_.begin();
        if (next.file == files_.size()) files_.push_back(file);
    }
    return true;
}

Position Lines::position(size_t offset) const {
    auto after = std::upper_bound(lines_.begin(), lines_.end(), offset,
                                  [](size_t at, const Line &line) { return at < line.start; });
    if (after == lines_.begin()) return {files_[0], 1, 1};
    const Line &line = *(after - 1);
    return {files_[line.file], line.number, offset - line.start + 1};
}

std::string_view Lines::text_of(const Line &line) const {
    const size_t newline = std::min(text_.find('\n', line.start), text_.size());
    const std::string_view text = text_.substr(line.start, newline - line.start);
    return text.substr(0, text.size() - (!text.empty() && text.back() == '\r'));
}

std::string_view Lines::line(std::string_view file, size_t number) const {
    std::string_view found;
    for (const Line &line : lines_) {
        if (line.number != number || files_[line.file] != file) continue;
        // The preprocessor may repeat a number; the line with text is meant.
        found = text_of(line);
        if (!without_blanks(found).empty()) break;
    }
    return found;
}

}  // namespace msl
