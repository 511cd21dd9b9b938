#include "inclusions.h"

#include <cstdlib>

namespace msl {
namespace {

struct Marker {
    std::string file;
    size_t line;    // number of the line that follows
    bool is_entry;  // into an included file
};

// `# 12 "file" flags`: flag 1 enters the file.
std::optional<Marker> read_marker(std::string_view line) {
    if (line.substr(0, 2) != "# ") return std::nullopt;
    const size_t open = line.find('"'), close = line.rfind('"');
    if (open == std::string_view::npos || close == open) return std::nullopt;
    const std::string number(line.substr(2, open - 2));
    return Marker{std::string(line.substr(open + 1, close - open - 1)),
                  std::strtoull(number.c_str(), nullptr, 10), line.substr(close + 1, 2) == " 1"};
}

bool is_in(const std::string &folder, const std::string &file) {
    return file.compare(0, folder.size() + 1, folder + "/") == 0;
}

bool is_in_compiler(const std::string &file) {
    return file.compare(0, 1, "<") == 0;
}

}  // namespace

std::optional<Inclusion> find_inclusion_outside(const std::string &folder,
                                                std::string_view preprocessed) {
    Position at;
    for (size_t start = 0; start < preprocessed.size();) {
        const size_t end = std::min(preprocessed.find('\n', start), preprocessed.size());
        const std::optional<Marker> marker = read_marker(preprocessed.substr(start, end - start));
        start = end + 1;
        if (!marker) {
            at.line++;
        } else if (marker->is_entry && !is_in(folder, marker->file) &&
                   !is_in_compiler(marker->file)) {
            return Inclusion{marker->file, at};
        } else {
            at = {marker->file, marker->line, 0};
        }
    }
    return std::nullopt;
}

}  // namespace msl
