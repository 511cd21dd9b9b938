#include "diagnostics.h"

#include "columns.h"
#include "diagnostic_names.h"
#include "diagnostic_reader.h"
#include "lines.h"

#include <algorithm>

namespace msl {
namespace {

class Printer {
  public:
    Printer(std::string_view source, std::string_view compiled)
        : source_(source), compiled_(compiled) {}

    void print(DiagnosticGroup &group) {
        move_into_source(group);
        for (const Diagnostic &diagnostic : group) {
            if (is_source(diagnostic)) print(diagnostic);
        }
    }

    std::string take() { return std::move(text_); }

  private:
    // Neither in a header nor in what was generated. A file that a #line names is the user's too.
    bool is_source(const Diagnostic &diagnostic) const {
        if (diagnostic.line == 0) return true;
        if (!source_.line(diagnostic.file, diagnostic.line).empty()) return true;
        return diagnostic.file[0] != '<' &&
               !compiled_.line(diagnostic.file, diagnostic.line).empty();
    }

    // What is wrong inside a header is wrong with the user's call of it.
    void move_into_source(DiagnosticGroup &group) const {
        if (is_source(group[0])) return;
        const auto call = std::find_if(group.begin(), group.end(), [&](const Diagnostic &note) {
            return note.line && is_source(note);
        });
        Diagnostic moved;
        if (call != group.end()) {
            moved = *call;
            group.erase(call);
        }
        moved.severity = group[0].severity;
        moved.message = group[0].message;
        if (moved.line == 0) {
            moved.message = std::string(SOURCE_NAME) + ": " + moved.severity + ": " + moved.message;
        }
        group[0] = std::move(moved);
    }

    void print(const Diagnostic &diagnostic) {
        const std::string message = user_names(diagnostic.message);
        if (diagnostic.line == 0) {
            text_ += message + "\n";
            return;
        }
        const std::string_view line = source_.line(diagnostic.file, diagnostic.line);
        const Columns columns(compiled_.line(diagnostic.file, diagnostic.line), line);
        const size_t column = columns.of(diagnostic.column);
        text_ += diagnostic.file + ":" + std::to_string(diagnostic.line) + ":" +
                 std::to_string(column) + ": " + diagnostic.severity + ": " + message + "\n";
        if (line.empty()) return;
        text_ += std::string(line) + "\n";
        print_marks(diagnostic, line, columns, column);
        print_insertion(diagnostic, line, columns);
    }

    // Under the line: tabs stay tabs, so that the marks stand where they should.
    static std::string indentation(std::string_view line, size_t width) {
        std::string blanks(line.substr(0, width));
        for (char &c : blanks)
            c = c == '\t' ? '\t' : ' ';
        blanks.resize(width, ' ');
        return blanks;
    }

    void print_marks(const Diagnostic &diagnostic, std::string_view line, const Columns &columns,
                     size_t caret) {
        std::string marks = indentation(line, caret - 1) + "^";
        for (const SourceRange &range : diagnostic.ranges) {
            if (range.first_line != diagnostic.line || range.last_line != diagnostic.line) continue;
            const size_t first = columns.of(range.first), last = columns.end_of(range.last);
            if (last > marks.size() + 1) marks.resize(last - 1, ' ');
            for (size_t k = first; k < last; k++) {
                if (marks[k - 1] == ' ') marks[k - 1] = '~';
            }
        }
        text_ += marks + "\n";
    }

    // Clang's third line proposes text to insert, e.g. a semicolon.
    void print_insertion(const Diagnostic &diagnostic, std::string_view line,
                         const Columns &columns) {
        if (diagnostic.quoted.size() != 3) return;
        const std::string &proposed = diagnostic.quoted[2];
        const size_t start = proposed.find_first_not_of(' ');
        if (start == std::string::npos) return;
        text_ += indentation(line, columns.of(start + 1) - 1) + user_names(proposed.substr(start)) +
                 "\n";
    }

    Lines source_, compiled_;
    std::string text_;
};

}  // namespace

std::string clean_diagnostics(const std::string &printed, std::string_view source,
                              std::string_view compiled) {
    Printer printer(source, compiled);
    for (DiagnosticGroup &group : read_diagnostics(printed))
        printer.print(group);
    return printer.take();
}

}  // namespace msl
