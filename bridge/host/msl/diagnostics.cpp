#include "diagnostics.h"

#include "columns.h"
#include "diagnostic_names.h"
#include "diagnostic_reader.h"
#include "glue.h"

#include <algorithm>

namespace msl {
namespace {

// Where the compiler found what it complains about.
enum class Origin { Source, Glue, Header };

class Printer {
  public:
    explicit Printer(const DiagnosedText &text)
        : source_(text.source), compiled_(text.compiled), glue_(text.glue) {}

    bool is_about_glue(const DiagnosticGroup &group) const {
        return origin_of(group[0]) == Origin::Glue;
    }

    // Whether it says no more than another about the same kernel: the table behind the kernels.
    static bool is_about_table(const DiagnosticGroup &group) {
        return group[0].file == GLUE_NAME && group.size() > 1;
    }

    // Whether it is about text of ours, and a later one says the same about the user's: some of
    // what is written once is compiled several times.
    bool is_repeated(const std::vector<DiagnosticGroup> &groups, size_t k) const {
        const Diagnostic &first = groups[k][0];
        if (origin_of(first) != Origin::Source || finds(first)) return false;
        return std::any_of(groups.begin() + k + 1, groups.end(), [&](const DiagnosticGroup &group) {
            const Diagnostic &other = group[0];
            return other.message == first.message && other.line == first.line &&
                   other.file == first.file && finds(other);
        });
    }

    void print(DiagnosticGroup group) {
        if (origin_of(group[0]) == Origin::Header && !move_to_call(group)) {
            if (unplaced_.empty()) unplaced_ = group[0].message + "\n";
            return;
        }
        if (origin_of(group[0]) == Origin::Glue) explain(group[0]);
        for (const Diagnostic &diagnostic : group) {
            if (origin_of(diagnostic) != Origin::Header) print(diagnostic);
        }
    }

    bool printed() const { return !text_.empty(); }
    std::string take() {
        if (!text_.empty() || unplaced_.empty()) return std::move(text_);
        return std::string(SOURCE_NAME) + ": error: " + user_names(unplaced_);
    }

  private:
    // A file that a #line names is the user's as well.
    Origin origin_of(const Diagnostic &diagnostic) const {
        if (diagnostic.line == 0) return Origin::Source;
        if (!source_.line(diagnostic.file, diagnostic.line).empty()) return Origin::Source;
        if (diagnostic.file == GLUE_NAME) {
            return diagnostic.line <= glue_.size() ? Origin::Glue : Origin::Header;
        }
        const bool user =
            diagnostic.file[0] != '<' && !compiled_.line(diagnostic.file, diagnostic.line).empty();
        return user ? Origin::Source : Origin::Header;
    }

    // What is wrong inside a header is wrong with the user's call of it: the first note about the
    // user's text takes the message's place.
    bool move_to_call(DiagnosticGroup &group) const {
        const auto call = std::find_if(group.begin() + 1, group.end(), [&](const Diagnostic &note) {
            return origin_of(note) != Origin::Header;
        });
        if (call == group.end()) return false;
        call->severity = group[0].severity;
        call->message = without_requirement(group[0].message);
        std::swap(group[0], *call);
        group.erase(call);
        return true;
    }

    // Clang says of arguments that fit no template only that there is no such function.
    static void explain(Diagnostic &diagnostic) {
        diagnostic.message = without_requirement(diagnostic.message);
        if (diagnostic.message.find("overloaded function") == std::string::npos) return;
        diagnostic.message = "no kernel template takes the arguments of this instantiation";
    }

    bool finds(const Diagnostic &diagnostic) const {
        return Columns(compiled_.line(diagnostic.file, diagnostic.line),
                       source_.line(diagnostic.file, diagnostic.line))
            .finds(diagnostic.column);
    }

    void print(const Diagnostic &diagnostic) {
        const std::string message = user_names(diagnostic.message);
        if (diagnostic.line == 0) {
            text_ += message + "\n";
            return;
        }
        const bool glue = origin_of(diagnostic) == Origin::Glue;
        const Position at = glue ? glue_[diagnostic.line - 1]
                                 : Position{diagnostic.file, diagnostic.line, diagnostic.column};
        const std::string_view line = source_.line(at.file, at.line);
        const Columns columns(compiled_.line(at.file, at.line), line);
        const size_t column = columns.of(at.column);
        text_ += at.file + ":" + std::to_string(at.line) + ":" + std::to_string(column) + ": " +
                 diagnostic.severity + ": " + message + "\n";
        if (line.empty()) return;
        text_ += std::string(line) + "\n";
        const bool quotes = !glue && diagnostic.quoted.size() > 1;
        print_marks(quotes ? diagnostic.quoted[1] : "", line, columns, column);
        if (quotes && diagnostic.quoted.size() > 2) {
            print_insertion(diagnostic.quoted[2], line, columns);
        }
    }

    // Under the line: tabs stay tabs, so that marks stand where they should.
    static std::string indentation(std::string_view line, size_t width) {
        std::string blanks(line.substr(0, width));
        for (char &c : blanks)
            c = c == '\t' ? '\t' : ' ';
        blanks.resize(width, ' ');
        return blanks;
    }

    // `marks`: the compiler's, with ~ under what it speaks of.
    void print_marks(const std::string &marks, std::string_view line, const Columns &columns,
                     size_t caret) {
        std::string moved;
        const auto mark = [&](size_t first, size_t last) {
            if (moved.size() < last) moved.resize(last, ' ');
            for (size_t k = first; k <= last; k++)
                moved[k - 1] = '~';
        };
        for (size_t k = 0; k < marks.size(); k++) {
            if (marks[k] != '~') continue;
            const size_t first = k;
            while (k + 1 < marks.size() && marks[k + 1] == '~')
                k++;
            const size_t from = columns.of(first + 1);
            mark(from, std::max(from, columns.of(k + 1)));
        }
        if (moved.size() < caret) moved.resize(caret, ' ');
        moved[caret - 1] = '^';
        const size_t start = std::min(moved.find_first_not_of(' '), moved.size());
        text_ += indentation(line, start) + moved.substr(start) + "\n";
    }

    // Clang's third line proposes text to insert, e.g. a semicolon.
    void print_insertion(const std::string &proposed, std::string_view line,
                         const Columns &columns) {
        const size_t start = proposed.find_first_not_of(' ');
        if (start == std::string::npos || !is_proposable(proposed.substr(start))) return;
        text_ += indentation(line, columns.of(start + 1) - 1) + user_names(proposed.substr(start)) +
                 "\n";
    }

    const Lines source_, compiled_;
    const std::vector<Position> &glue_;
    std::string text_, unplaced_;
};

}  // namespace

std::string clean_diagnostics(const std::string &printed, const DiagnosedText &text) {
    const std::vector<DiagnosticGroup> groups = read_diagnostics(printed);
    Printer printer(text);
    for (size_t k = 0; k < groups.size(); k++) {
        const DiagnosticGroup &group = groups[k];
        const bool ours = printer.is_about_glue(group) || printer.is_about_table(group);
        if (!ours && !printer.is_repeated(groups, k)) printer.print(group);
    }
    // A broken kernel breaks its glue too: that is worth a word only when nothing else is wrong.
    const auto glue = std::find_if(groups.begin(), groups.end(), [&](const DiagnosticGroup &group) {
        return printer.is_about_glue(group);
    });
    if (!printer.printed() && glue != groups.end()) printer.print(*glue);
    return printer.take();
}

}  // namespace msl
