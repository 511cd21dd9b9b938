#include "pointer_types.h"

#include "lexer.h"

#include <algorithm>

namespace msl {
namespace {

constexpr std::string_view NAMES[] = {"thread", "device", "constant", "threadgroup"};

}  // namespace

std::string_view space_name(std::string_view number) {
    const bool known = number.size() == 1 && number[0] >= '0' && number[0] <= '3';
    return known ? NAMES[number[0] - '0'] : std::string_view();
}

PrintedType read_printed_type(std::string_view text) {
    PrintedType type;
    std::vector<std::string_view> spaces = {NAMES[0]};  // from the inside
    size_t angles = 0;
    bool numbered = false;
    for (const Token &token : lex(text)) {
        if (token.text == "<") angles++;
        if (token.text == ">" && angles > 0) angles--;
        if (angles > 0) continue;
        if (token.text == "*") {
            spaces.push_back(NAMES[0]);
            type.constant = false;
        } else if (token.text == "[" && spaces.size() == 1) {
            spaces.push_back(spaces[0]);
            type.array = true;
        } else if (token.text == "&" || token.text == "&&") {
            type.refers = true;
        } else if (token.text == "const") {
            type.constant = true;
        } else if (token.text == "address_space") {
            numbered = true;
        } else if (token.kind == TokenKind::Number && numbered) {
            spaces.back() = space_name(token.text);
            numbered = false;
        } else if (std::find(std::begin(NAMES), std::end(NAMES), token.text) != std::end(NAMES)) {
            spaces.back() = *std::find(std::begin(NAMES), std::end(NAMES), token.text);
        }
    }
    type.spaces.assign(spaces.rbegin(), spaces.rend());
    return type;
}

}  // namespace msl
