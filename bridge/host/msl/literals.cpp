#include "literals.h"

namespace msl {
namespace {

bool is_hexadecimal(std::string_view number) {
    return number.size() > 1 && number[0] == '0' && (number[1] | 0x20) == 'x';
}

bool is_floating(std::string_view number) {
    const char *marks = is_hexadecimal(number) ? ".pP" : ".eE";
    return number.find_first_of(marks) != std::string_view::npos;
}

bool ends_with(std::string_view text, std::string_view end) {
    return text.size() > end.size() && text.substr(text.size() - end.size()) == end;
}

// What C++ calls the literal; empty where it means the same there.
std::string rewritten(std::string_view number) {
    if (is_hexadecimal(number) && !is_floating(number)) return "";
    const auto cast = [&](std::string_view suffix, const char *type) {
        const std::string_view digits = number.substr(0, number.size() - suffix.size());
        return std::string("((") + type + ")" + std::string(digits) +
               (is_floating(digits) ? "f)" : ".f)");
    };
    for (const std::string_view suffix : {"bf", "BF"}) {
        if (ends_with(number, suffix)) return cast(suffix, "bfloat");
    }
    for (const std::string_view suffix : {"h", "H"}) {
        if (ends_with(number, suffix)) return cast(suffix, "half");
    }
    const char last = number.back();
    const bool suffixed = last == 'f' || last == 'F' || last == 'l' || last == 'L';
    return is_floating(number) && !suffixed ? std::string(number) + "f" : "";
}

}  // namespace

void rewrite_literals(Tokens &tokens) {
    for (size_t k = 0; k < tokens.size(); k++) {
        if (!tokens.is(k, TokenKind::Number)) continue;
        std::string text = rewritten(tokens[k]);
        if (!text.empty()) tokens.replace(k, std::move(text));
    }
}

}  // namespace msl
