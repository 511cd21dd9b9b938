#include "address_spaces.h"

#include "overloads.h"
#include "pointer_types.h"
#include "ranges.h"

#include <algorithm>

namespace msl {
namespace {

// A line of clang's: file:line:column:{range}{range}: severity: message
struct Said {
    Position place;
    std::vector<std::pair<size_t, size_t>> ranges;  // line of the text as it is, column
    std::string_view severity, message;
};

bool starts_with(std::string_view text, std::string_view start) {
    return text.substr(0, start.size()) == start;
}

bool contains(std::string_view text, std::string_view part) {
    return text.find(part) != std::string_view::npos;
}

size_t take_number(std::string_view &text) {
    size_t number = 0;
    while (!text.empty() && text[0] >= '0' && text[0] <= '9') {
        number = number * 10 + size_t(text[0] - '0');
        text.remove_prefix(1);
    }
    return number;
}

// "12:5" from where text is.
Position take_place(const std::string &file, std::string_view &text) {
    Position place{file, take_number(text), 0};
    if (!text.empty()) text.remove_prefix(1);
    place.column = take_number(text);
    return place;
}

bool read_line(std::string_view line, Said &said) {
    for (const std::string_view severity : {"error", "note"}) {
        const size_t end = line.find(": " + std::string(severity) + ": ");
        if (end == std::string_view::npos) continue;
        const size_t ranges = std::min(line.find(":{"), end);
        std::string_view place = line.substr(0, ranges);
        const size_t colon = place.rfind(':', place.rfind(':') - 1);
        if (colon >= place.size()) return false;
        const std::string file(place.substr(0, colon));
        place.remove_prefix(colon + 1);
        said = {take_place(file, place), {}, severity, line.substr(end + severity.size() + 4)};
        for (size_t k = ranges; (k = line.find('{', k)) < end; k++) {
            std::string_view range = line.substr(k + 1);
            const Position start = take_place(file, range);
            said.ranges.emplace_back(start.line, start.column);
        }
        return true;
    }
    return false;
}

// The types between quotes; of a type with two names the one that is spelt out.
std::vector<std::string_view> quoted(std::string_view message) {
    static constexpr std::string_view also = " (aka '";
    std::vector<std::string_view> found;
    for (size_t open = 0; (open = message.find('\'', open)) != std::string_view::npos;) {
        const size_t close = std::min(message.find('\'', open + 1), message.size());
        const std::string_view text = message.substr(open + 1, close - open - 1);
        const bool alias = open >= also.size() - 1 && !found.empty() &&
                           message.substr(open + 1 - also.size(), also.size()) == also;
        if (alias) found.pop_back();
        found.push_back(text);
        open = close + 1;
    }
    return found;
}

// A value of the first type, where one of the second is wanted.
struct Change {
    std::string_view from, to;
    bool points = false;
};

std::optional<Change> compare(std::string_view from_text, std::string_view to_text, bool refers) {
    const PrintedType from = read_printed_type(from_text), to = read_printed_type(to_text);
    const size_t depth = to.spaces.size();
    if (from.spaces.size() != depth) return {};
    refers |= to.refers;
    // What a constant reference to an object of the thread stands for may be a copy.
    if (refers && to.constant && to.spaces[0] == "thread") return {};
    // A literal, or a table without `constant`, which Metal may have put there.
    if (from.constant && from.array && to.spaces.back() == "constant") return {};
    for (size_t i = refers ? 0 : 1; i < depth; i++) {
        if (from.spaces[i] != to.spaces[i]) return Change{from.spaces[i], to.spaces[i], i > 0};
    }
    return {};
}

std::optional<Change> compare_quoted(std::string_view message, size_t from, size_t to,
                                     bool refers = false) {
    const std::vector<std::string_view> types = quoted(message);
    if (types.size() <= std::max(from, to)) return {};
    std::string_view wanted = types[to];
    // See converted in include/msl_spaces.h.
    const size_t converted = wanted.find("converted<");
    if (converted != std::string_view::npos) {
        wanted.remove_prefix(converted + std::string_view("converted<").size());
        wanted.remove_suffix(1);
    }
    return compare(types[from], wanted, refers);
}

// Of errors that name both types.
std::optional<Change> read_change(std::string_view message) {
    if (starts_with(message, "cannot initialize object parameter")) return {};
    if (starts_with(message, "cannot initialize ") ||
        starts_with(message, "incompatible operand types ") ||
        starts_with(message, "comparison of distinct pointer types ") ||
        contains(message, "from incompatible type"))
        return compare_quoted(message, 1, 0);
    if (starts_with(message, "binding reference of type "))
        return compare_quoted(message, 1, 0, true);
    for (const std::string_view start :
         {"assigning '", "static_cast from ", "reinterpret_cast from ", "C-style cast from ",
          "no matching conversion for C-style cast from "}) {
        if (starts_with(message, start)) return compare_quoted(message, 0, 1);
    }
    return {};
}

class Reader {
  public:
    explicit Reader(const std::string &text) : tokens_(text), lines_(text), starts_{0} {
        for (size_t k = 0; k < text.size(); k++) {
            if (text[k] == '\n') starts_.push_back(k + 1);
        }
    }

    std::optional<TextError> read(const std::string &printed) {
        std::optional<TextError> found;
        std::vector<Said> group;
        Said said;
        for (size_t start = 0; start < printed.size() && !found;) {
            const size_t end = std::min(printed.find('\n', start), printed.size());
            const std::string_view line = std::string_view(printed).substr(start, end - start);
            start = end + 1;
            if (!read_line(line, said)) continue;
            if (said.severity == "error") {
                found = judge(group);
                group.clear();
            }
            group.push_back(said);
        }
        return found ? found : judge(group);
    }

  private:
    std::optional<TextError> judge(const std::vector<Said> &group) const {
        if (group.empty() || !is_users(group[0].place)) return {};
        const Said &error = group[0];
        if (const std::optional<Change> change = read_change(error.message)) {
            return describe(*change, value_place(error));
        }
        if (starts_with(error.message, "no matching ")) return judge_call(group);
        return {};
    }

    bool is_users(const Position &place) const {
        return place.file[0] != '<' && !lines_.line(place.file, place.line).empty();
    }

    // Clang numbers the lines of ranges as they are, and those of places as #line says.
    Position range_start(const std::pair<size_t, size_t> &range) const {
        const auto [line, column] = range;
        if (line == 0 || line > starts_.size()) return {};
        return lines_.position(starts_[line - 1] + column - 1);
    }

    Position value_place(const Said &error) const {
        return error.ranges.empty() ? error.place : range_start(error.ranges.back());
    }

    // Wrong when each function that takes so many arguments wants another address space.
    std::optional<TextError> judge_call(const std::vector<Said> &group) const {
        std::optional<Change> found;
        size_t candidates = 0, position = 0;
        for (const Said &note : group) {
            if (!starts_with(note.message, "candidate ")) continue;
            if (contains(note.message, " (the implicit ")) continue;
            candidates++;
            if (contains(note.message, "requires ") && contains(note.message, " argument"))
                continue;
            const std::optional<Change> change = read_candidate(note);
            if (!change) return {};
            found = change;
            position = argument_number(note.message);
        }
        const std::vector<std::string_view> names = quoted(group[0].message);
        if (!found || names.empty() || candidates < count_definitions(names.back())) return {};
        return describe(*found, argument(group[0].place, position));
    }

    std::optional<Change> read_candidate(const Said &note) const {
        if (contains(note.message, "no known conversion from"))
            return compare_quoted(note.message, 0, 1);
        if (contains(note.message, "does not match adjusted type"))
            return compare_quoted(note.message, 1, 0);
        const std::pair<std::string_view, std::string_view> spaces = two_spaces(note.message);
        if (contains(note.message, "cannot pass pointer"))
            return Change{spaces.first, spaces.second, true};
        if (!contains(note.message, "cannot bind reference") || note.ranges.empty()) return {};
        if (!is_users(note.place)) return {};
        // Clang says the two in either order.
        std::string_view wanted = declared_space(range_start(note.ranges[0]));
        const bool of_thread = spaces.first == "thread" || spaces.second == "thread";
        // Unless it is a constant one, which may stand for a copy, as in compare.
        if (wanted.empty() && of_thread && !declares_constant(range_start(note.ranges[0])))
            wanted = "thread";
        if (wanted.empty()) return {};
        return Change{wanted == spaces.first ? spaces.second : spaces.first, wanted, false};
    }

    // "generic address space" or "address space '1'", twice
    static std::pair<std::string_view, std::string_view> two_spaces(std::string_view message) {
        std::string_view found[2] = {};
        static constexpr std::string_view words = "address space";
        size_t at = 0;
        for (std::string_view &space : found) {
            at = message.find(words, at);
            if (at == std::string_view::npos) break;
            at += words.size();
            const bool numbered = message.substr(at, 2) == " '";
            space = space_name(numbered ? message.substr(at + 2, 1) : "0");
        }
        return {found[0], found[1]};
    }

    // Of the parameter that starts there; empty where it names none.
    std::string_view declared_space(const Position &place) const {
        for (size_t k = token_at(place); k < tokens_.size(); k++) {
            if (is_address_space(tokens_[k])) return tokens_[k];
            if (!tokens_.is(k, TokenKind::Identifier)) break;
        }
        return {};
    }

    // Of the parameter that starts there.
    bool declares_constant(const Position &place) const {
        size_t k = token_at(place);
        while (k > 0 && tokens_.is(k - 1, TokenKind::Identifier))
            k--;
        for (; k < tokens_.size() && tokens_.is(k, TokenKind::Identifier); k++) {
            if (tokens_[k] == "const") return true;
        }
        return false;
    }

    // "2nd argument", "1st parameter"
    static size_t argument_number(std::string_view message) {
        for (const std::string_view word : {" argument", " parameter"}) {
            const size_t at = message.find(word);
            if (at == std::string_view::npos || at < 3) continue;
            size_t first = message.rfind(' ', at - 1) + 1;
            std::string_view number = message.substr(first);
            if (const size_t found = take_number(number)) return found;
        }
        return 1;
    }

    // Overloads whose heads clang did not understand are not among its candidates.
    size_t count_definitions(std::string_view name) const {
        size_t count = 0;
        for (size_t k = 0; k + 1 < tokens_.size(); k++) {
            if (tokens_[k] != name || tokens_[k + 1] != "(") continue;
            const std::string_view behind = tokens_[tokens_.closing(k + 1) + 1];
            count += behind == "{" || behind == "const" || is_address_space(behind);
        }
        return count;
    }

    // The first token of a call's argument, from 1.
    Position argument(const Position &call, size_t number) const {
        for (size_t k = token_at(call); k < tokens_.size() && tokens_[k] != ";"; k++) {
            if (tokens_[k] == "<") {
                k = tokens_.closing_angle(k);
            } else if (tokens_[k] == "(" || tokens_[k] == "{") {
                const std::vector<Range> arguments = split_list(tokens_, k);
                if (number <= arguments.size())
                    return tokens_.position(arguments[number - 1].first);
                break;
            }
        }
        return call;
    }

    size_t token_at(const Position &place) const {
        for (size_t k = 0; k < tokens_.size(); k++) {
            const Position at = tokens_.position(k);
            if (at.line == place.line && at.column == place.column && at.file == place.file)
                return k;
        }
        return tokens_.size();
    }

    TextError describe(const Change &change, const Position &place) const {
        const size_t k = token_at(place);
        const size_t name = tokens_[k] == "&" || tokens_[k] == "*" ? k + 1 : k;
        const std::string_view next = tokens_[name + 1];
        const bool named = tokens_.is(name, TokenKind::Identifier) && next != "(" && next != "." &&
                           next != "->" && next != "::" && next != "<";
        const bool points = change.points && (name == k || next == "[");
        return TextError{
            named ? tokens_.position(name) : place,
            (named ? "'" + std::string(tokens_[name]) + "'" : "this value") +
                (points ? " points to the address space '" : " lies in the address space '") +
                std::string(change.from) + "': it cannot become a pointer to '" +
                std::string(change.to) + "'"};
    }

    const Tokens tokens_;
    const Lines lines_;
    std::vector<size_t> starts_;  // of lines
};

constexpr std::string_view PROBE_NAME = "<probe>";

}  // namespace

std::string space_probe() {
    return "\n#line 1 \"" + std::string(PROBE_NAME) +
           "\"\ndevice int *__msl_probe; int *__msl_probed = __msl_probe;\n";
}

bool answers_probe(const std::string &printed) {
    if (contains(printed, std::string(PROBE_NAME) + ":1:")) return true;
    // A header that is missing is named by its path, or asked for by the prelude.
    const size_t fatal = printed.find(": fatal error: ");
    if (fatal == std::string::npos) return false;
    const size_t newline = printed.rfind('\n', fatal);
    const char first = printed[newline == std::string::npos ? 0 : newline + 1];
    return first != '<' && first != '/';
}

std::optional<TextError> find_changed_space(const std::string &printed, const std::string &text) {
    return Reader(text).read(printed);
}

}  // namespace msl
