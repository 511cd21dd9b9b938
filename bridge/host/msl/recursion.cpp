#include "recursion.h"

#include <map>
#include <set>

namespace msl {
namespace {

template <class Key> using Graph = std::map<Key, std::set<Key>>;

template <class Key> bool leads_to(const Graph<Key> &calls, const Key &from, const Key &to) {
    std::set<Key> seen;
    std::vector<Key> open = {from};
    while (!open.empty()) {
        const Key at = open.back();
        open.pop_back();
        if (at == to) return true;
        const auto next = calls.find(at);
        if (next == calls.end() || !seen.insert(at).second) continue;
        open.insert(open.end(), next->second.begin(), next->second.end());
    }
    return false;
}

// Whether k is the name of a function that is called or declared: not of a member, nor of one that
// Metal has.
bool names_function(const Tokens &tokens, size_t k) {
    if (!tokens.is(k, TokenKind::Identifier)) return false;
    const std::string_view before = k > 0 ? tokens[k - 1] : std::string_view();
    if (before == "." || before == "->") return false;
    if (before == "::" &&
        (tokens[k - 2] == "metal" || tokens[k - 2] == "precise" || tokens[k - 2] == "fast"))
        return false;
    const size_t open = tokens[k + 1] == "<" ? tokens.closing_angle(k + 1) + 1 : k + 1;
    return tokens[open] == "(";
}

// name ( ... ) {
bool defines_function(const Tokens &tokens, size_t k) {
    if (!names_function(tokens, k) || tokens[k + 1] != "(") return false;
    size_t behind = tokens.closing(k + 1) + 1;
    while (tokens.is(behind, TokenKind::Identifier))
        behind++;
    return tokens[behind] == "{";
}

std::string_view up_to(std::string_view text, std::string_view end) {
    return text.substr(0, text.find(end));
}

std::string_view behind(std::string_view text, std::string_view start) {
    const size_t at = text.find(start);
    return at == std::string_view::npos ? std::string_view() : text.substr(at + start.size());
}

// The symbol that follows the first @ of the line.
std::string_view symbol(std::string_view line) {
    const std::string_view name = behind(line, " @");
    return name.substr(0, 1) == "\"" ? up_to(name.substr(1), "\"") : up_to(name, "(");
}

size_t number(std::string_view text) {
    size_t value = 0;
    for (; !text.empty() && text[0] >= '0' && text[0] <= '9'; text.remove_prefix(1))
        value = value * 10 + size_t(text[0] - '0');
    return value;
}

struct Call {
    std::string_view caller, callee;
    size_t place;  // number of the metadata that tells
};

class Assembly {
  public:
    explicit Assembly(std::string_view text) {
        std::string_view caller;
        while (!text.empty()) {
            const std::string_view line = up_to(text, "\n");
            text.remove_prefix(std::min(line.size() + 1, text.size()));
            if (line.substr(0, 7) == "define ") {
                caller = symbol(line);
                if (line.find(" linkonce_odr ") != std::string_view::npos) inline_.insert(caller);
            } else if (line.substr(0, 1) == "!") {
                metadata_[number(line.substr(1))] = line;
            } else if (line.find(" call ") != std::string_view::npos) {
                const Call call{caller, symbol(behind(line, " call ")),
                                number(behind(line, "!dbg !"))};
                calls_.push_back(call);
            }
        }
        for (const Call &call : calls_)
            if (!may_end(call)) graph_[call.caller].insert(call.callee);
    }

    const std::vector<Call> &calls() const { return calls_; }

    bool recurses(const Call &call) const { return leads_to(graph_, call.callee, call.caller); }

    Position position(const Call &call) const {
        const std::string_view place = said(call.place);
        const std::string_view scope = said(number(behind(place, "scope: !")));
        const std::string_view file = said(number(behind(scope, "file: !")));
        return {std::string(up_to(behind(file, "filename: \""), "\"")),
                number(behind(place, "line: ")), number(behind(place, "column: "))};
    }

  private:
    // Inline functions and templates that call each other may do so with values for which the other
    // does not call back, as approximations for small and for large arguments do: once they are
    // within their callers no recursion is left, and Metal takes them.
    bool may_end(const Call &call) const {
        return call.caller != call.callee && inline_.count(call.caller) &&
               inline_.count(call.callee);
    }

    std::string_view said(size_t metadata) const {
        const auto found = metadata_.find(metadata);
        return found == metadata_.end() ? std::string_view() : found->second;
    }

    std::vector<Call> calls_;
    std::set<std::string_view> inline_;
    Graph<std::string_view> graph_;
    std::map<size_t, std::string_view> metadata_;
};

}  // namespace

bool may_recurse(const Tokens &tokens, const std::vector<Declaration> &declarations) {
    Graph<std::string_view> calls;
    for (const Declaration &declaration : declarations) {
        for (size_t k = declaration.first; k <= declaration.last; k++) {
            if (!defines_function(tokens, k)) continue;
            size_t open = tokens.closing(k + 1) + 1;
            while (tokens[open] != "{")
                open++;
            const size_t close = std::min(tokens.closing(open), declaration.last);
            for (size_t q = open; q < close; q++) {
                if (names_function(tokens, q)) calls[tokens[k]].insert(tokens[q]);
            }
        }
    }
    for (const auto &[name, called] : calls) {
        for (const std::string_view next : called) {
            if (leads_to(calls, next, name)) return true;
        }
    }
    return false;
}

std::optional<TextError> find_recursion(const std::string &assembly, const std::string &text) {
    const Assembly read(assembly);
    const Lines lines(text);
    for (const Call &call : read.calls()) {
        if (!read.recurses(call)) continue;
        const Position place = read.position(call);
        if (lines.line(place.file, place.line).empty()) continue;
        return TextError{place, "recursive function call: functions of the Metal Shading Language "
                                "cannot call themselves, not even through others"};
    }
    return {};
}

}  // namespace msl
