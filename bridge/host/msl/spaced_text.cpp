#include "spaced_text.h"

#include "overloads.h"

namespace msl {
namespace {

// Whether what precedes a parenthesis lets it be a cast's, and not hold parameters or arguments.
bool may_precede_cast(const Tokens &tokens, size_t k) {
    if (k == 0) return false;
    const std::string_view before = tokens[k - 1];
    if (k > 1 && tokens[k - 2] == "operator") return false;
    if (tokens.is(k - 1, TokenKind::Identifier)) return before == "return";
    return before != ")" && before != "]" && before != ">" && before != "::" && before != "...";
}

// `(device T *)` or `(T *)` at k: its last token, or 0 where this is none.
size_t find_cast(const Tokens &tokens, size_t k) {
    if (tokens[k] != "(" || !may_precede_cast(tokens, k)) return 0;
    for (size_t q = k + 1; q < tokens.size(); q++) {
        if (tokens[q] == "<") {
            q = tokens.closing_angle(q);
        } else if (tokens[q] == "*") {
            return tokens[q + 1] == ")" && q > k + 1 ? q + 1 : 0;
        } else if (!tokens.is(q, TokenKind::Identifier) && tokens[q] != "::") {
            return 0;
        }
    }
    return 0;
}

// Plain C++ casts a pointer to any address space.
void check_casts(Tokens &tokens) {
    for (size_t k = 0; k < tokens.size(); k++) {
        const size_t close = find_cast(tokens, k);
        if (close == 0) continue;
        tokens.replace(k, "*(__msl::converted<");
        tokens.replace(close, ">)");
    }
}

// What follows the parameters of a method: whether it is for objects of another address space than
// `thread`. The first token behind is stored in k.
bool reads_space_of_object(const Tokens &tokens, size_t &k) {
    bool other = false;
    for (; tokens[k] == "const" || tokens[k] == "volatile" || is_address_space(tokens[k]); k++)
        other |= is_address_space(tokens[k]) && tokens[k] != "thread";
    return other;
}

// C++ has no methods for objects of an address space: in the body of one, members would lie in
// another than they do.
void empty_methods(Tokens &tokens) {
    for (size_t k = 0; k < tokens.size(); k++) {
        if (tokens[k] != ")") continue;
        size_t open = k + 1;
        if (!reads_space_of_object(tokens, open) || tokens[open] != "{") continue;
        const size_t close = tokens.closing(open);
        if (close < tokens.size() && close > open + 1) tokens.blank(open + 1, close - 1);
    }
}

// A template is only read as one until something asks for an instance of it.
std::string instances(const std::vector<Kernel> &kernels) {
    std::string text = std::string("\n#line 1 \"") + INSTANCES_NAME + "\"\n";
    for (size_t i = 0; i < kernels.size(); i++) {
        if (is_instance(kernels[i])) {
            text += "auto *__msl_instance_" + std::to_string(i) + " = &::" + kernels[i].function +
                    ";\n";
        }
    }
    return text;
}

}  // namespace

std::string spaced_text(std::string rewritten, const std::vector<Kernel> &kernels) {
    Tokens tokens(std::move(rewritten));
    check_casts(tokens);
    empty_methods(tokens);
    return "#line 1 \"<prelude>\"\n#include \"msl_spaces.h\"\n#line 1 \"" +
           std::string(SOURCE_NAME) + "\"\n" + tokens.text() + instances(kernels);
}

}  // namespace msl
