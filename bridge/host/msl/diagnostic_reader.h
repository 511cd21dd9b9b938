// Reads what clang prints with DIAGNOSTIC_OPTIONS.
#pragma once
#include <string>
#include <vector>

namespace msl {

struct Diagnostic {
    std::string file, severity, message;
    size_t line = 0, column = 0;      // 0: without a place; `message` is then the whole line
    std::vector<std::string> quoted;  // the lines behind it: text, marks, proposed insertion
};

// An error or warning, and the notes that explain it.
using DiagnosticGroup = std::vector<Diagnostic>;

std::vector<DiagnosticGroup> read_diagnostics(const std::string &printed);

}  // namespace msl
