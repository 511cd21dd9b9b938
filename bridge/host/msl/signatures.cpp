#include "signatures.h"

#include "overloads.h"

namespace msl {
namespace {

// The parenthesis before the parameters; 0 where the declaration is no function's.
size_t find_parameters(const Tokens &tokens, const Declaration &declaration) {
    size_t k = declaration.first;
    if (tokens[k] == "template" && tokens[k + 1] == "<") k = tokens.closing_angle(k + 1) + 1;
    for (; k < declaration.body && k <= declaration.last; k++) {
        const std::string_view token = tokens[k];
        if (token == "=" || token == "operator" || token == "struct" || token == "typedef")
            return 0;
        if (token == "[") k = tokens.closing(k);
        if (token == "<") k = tokens.closing_angle(k);
        if (token != "(") continue;
        const bool named = k > declaration.first && tokens.is(k - 1, TokenKind::Identifier);
        if (named && tokens[k - 1] != "decltype" && tokens[k - 1] != "__attribute__") return k;
        k = tokens.closing(k);
    }
    return 0;
}

SpacedParameter read_parameter(const Tokens &tokens, const Range &range) {
    SpacedParameter found{"", false};
    size_t spaces = 0, marks = 0;
    for (size_t k = range.first; k <= range.last && tokens[k] != "="; k++) {
        if (tokens[k] == "<") k = tokens.closing_angle(k);
        if (tokens[k] == "(") k = tokens.closing(k), marks += 2;
        if (tokens.opens_attributes(k)) k = tokens.closing(k);
        if (is_address_space(tokens[k])) {
            found.space = tokens[k];
            spaces++;
        }
        if (tokens[k] == "*" || tokens[k] == "&" || tokens[k] == "[") marks++;
        found.refers |= tokens[k] == "&";
    }
    if (spaces != 1 || marks != 1) found.space = "";
    return found;
}

}  // namespace

std::vector<Range> split_list(const Tokens &tokens, size_t open) {
    const size_t close = std::min(tokens.closing(open), tokens.size());
    std::vector<Range> parts;
    size_t first = open + 1;
    for (size_t k = first; k <= close; k++) {
        const std::string_view token = tokens[k];
        if (token == "<" && tokens.is(k - 1, TokenKind::Identifier)) {
            // Less than, where nothing closes it in time.
            const size_t end = tokens.closing_angle(k);
            if (end < close) k = end;
        } else if ((token == "(" || token == "[" || token == "{") && k < close) {
            k = tokens.closing(k);
        } else if (token == "," || k == close) {
            if (k > first) parts.push_back({first, k - 1});
            first = k + 1;
        }
    }
    return parts;
}

Signatures read_signatures(const Tokens &tokens, const std::vector<Declaration> &declarations) {
    Signatures signatures;
    for (const Declaration &declaration : declarations) {
        const size_t open = find_parameters(tokens, declaration);
        if (open == 0) continue;
        Signature signature;
        for (const Range &range : split_list(tokens, open))
            signature.push_back(read_parameter(tokens, range));
        signatures[tokens[open - 1]].push_back(std::move(signature));
    }
    return signatures;
}

std::string_view read_result(const Tokens &tokens, const Declaration &declaration) {
    const size_t open = find_parameters(tokens, declaration);
    if (open == 0) return {};
    return read_parameter(tokens, {declaration.first, open - 1}).space;
}

}  // namespace msl
