#include "diagnostic_reader.h"

#include <algorithm>
#include <cstdlib>

namespace msl {
namespace {

constexpr const char *SEVERITIES[] = {"fatal error", "error", "warning", "note", "remark"};

// Of "...: severity: message", where the place before it ends.
size_t find_severity(const std::string &line, std::string &severity) {
    size_t first = std::string::npos;
    for (const char *candidate : SEVERITIES) {
        const size_t at = line.find(std::string(": ") + candidate + ": ");
        if (at < first) {
            first = at;
            severity = candidate;
        }
    }
    return first;
}

bool take_number(std::string &text, size_t &number) {
    const size_t colon = text.rfind(':');
    if (colon == std::string::npos || colon + 1 == text.size()) return false;
    if (text.find_first_not_of("0123456789", colon + 1) != std::string::npos) return false;
    number = std::strtoull(text.c_str() + colon + 1, nullptr, 10);
    text.resize(colon);
    return true;
}

// file:line:column: severity: message
bool read_header(const std::string &line, Diagnostic &found) {
    Diagnostic diagnostic;
    const size_t end = find_severity(line, diagnostic.severity);
    if (end == std::string::npos) return false;
    std::string place = line.substr(0, end);
    if (!take_number(place, diagnostic.column) || !take_number(place, diagnostic.line)) {
        return false;
    }
    diagnostic.file = place;
    diagnostic.message = line.substr(end + diagnostic.severity.size() + 4);
    found = std::move(diagnostic);
    return true;
}

bool starts_with(const std::string &line, const char *start) {
    return line.rfind(start, 0) == 0;
}

// What speaks of clang's own options: how to raise a limit, or that it has reached one.
bool is_hint(const std::string &line) {
    return line.find("use -f") != std::string::npos || line.find("[-f") != std::string::npos;
}

// Without a place: from the driver or the linker.
bool is_plain_error(const std::string &line) {
    return starts_with(line, "fatal error: ") || line.find(": error: ") != std::string::npos;
}

// Lines that say nothing about the text: "2 errors generated."
bool is_noise(const std::string &line) {
    static const std::string end = " generated.";
    return starts_with(line, "In file included from ") ||
           (line.size() > end.size() &&
            line.compare(line.size() - end.size(), end.size(), end) == 0);
}

}  // namespace

std::vector<DiagnosticGroup> read_diagnostics(const std::string &printed) {
    std::vector<DiagnosticGroup> groups;
    for (size_t start = 0; start < printed.size();) {
        const size_t end = std::min(printed.find('\n', start), printed.size());
        const std::string line = printed.substr(start, end - start);
        start = end + 1;
        Diagnostic found;
        if (is_hint(line)) continue;
        if (read_header(line, found)) {
            if (found.severity != "note" || groups.empty()) groups.emplace_back();
            groups.back().push_back(std::move(found));
        } else if (!starts_with(line, " ") && is_plain_error(line)) {
            found.message = line;
            groups.push_back({std::move(found)});
        } else if (!groups.empty() && !is_noise(line)) {
            groups.back().back().quoted.push_back(line);
        }
    }
    return groups;
}

}  // namespace msl
