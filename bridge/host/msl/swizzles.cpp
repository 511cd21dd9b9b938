#include "swizzles.h"

#include <algorithm>
#include <set>

namespace msl {
namespace {

// The halves of vectors, which clang's have and Metal's with them.
constexpr std::string_view HALVES[] = {"lo", "hi", "even", "odd"};

bool is_half(std::string_view name) {
    return std::find(std::begin(HALVES), std::end(HALVES), name) != std::end(HALVES);
}

// Of a vector of three, which clang takes for one of four, only what lies within it.
std::string half(std::string_view name, size_t size) {
    const size_t count = (size + 1) / 2, step = name == "lo" || name == "hi" ? 1 : 2;
    size_t at = name == "hi" ? count : name == "odd" ? 1 : 0;
    std::string indices;
    for (size_t k = 0; k < count; k++, at += step)
        indices += char('0' + at);
    return indices;
}

// "zx" and "br" are components 2 and 0. Empty for any other name.
std::string components(std::string_view name) {
    if (name.size() < 2 || name.size() > 4) return "";
    for (const std::string_view letters : {"xyzw", "rgba"}) {
        std::string indices;
        for (const char c : name) {
            const size_t index = letters.find(c);
            if (index != std::string_view::npos) indices += char('0' + index);
        }
        if (indices.size() == name.size()) return indices;
    }
    return "";
}

bool has_duplicate(std::string indices) {
    std::sort(indices.begin(), indices.end());
    return std::adjacent_find(indices.begin(), indices.end()) != indices.end();
}

bool is_swizzle(std::string_view name) {
    return is_half(name) || !components(name).empty();
}

// MSL_SWIZZLE2(zx, 2, 0); one that names a component twice cannot be assigned to.
std::string declaration(std::string_view name, const std::string &indices) {
    std::string text = has_duplicate(indices) ? " MSL_CONSTANT_SWIZZLE" : " MSL_SWIZZLE";
    text += std::to_string(indices.size()) + "(" + std::string(name);
    for (const char index : indices)
        text += std::string(", ") + index;
    return text + ")";
}

bool is_member(const Tokens &tokens, size_t k) {
    return k > 0 && (tokens[k - 1] == "." || tokens[k - 1] == "->");
}

// Whether an assignment with an operator follows k; those that shift are two tokens.
bool is_changed(const Tokens &tokens, size_t k) {
    const std::string_view next = tokens[k + 1], last = tokens[k + 2];
    if ((next == "<" && last == "<=") || (next == ">" && last == ">=")) return true;
    return next.size() == 2 && next[1] == '=' && next.find_first_of("+-*/%&|^") == 0;
}

// `own`: names that the text declares itself, for a member of a class of its own perhaps.
void replace_changed(Tokens &tokens, const std::set<std::string_view> &own) {
    for (size_t k = 1; k < tokens.size(); k++) {
        if (!is_member(tokens, k) || !is_changed(tokens, k) || own.count(tokens[k])) continue;
        const std::string indices = components(tokens[k]);
        if (indices.empty() || has_duplicate(indices)) continue;
        tokens.replace(k, "__at_" + std::string(tokens[k]) + "()");
    }
}

}  // namespace

std::string declare_swizzles(Tokens &tokens) {
    std::set<std::string_view> used, own;
    for (size_t k = 0; k < tokens.size(); k++) {
        if (!is_swizzle(tokens[k])) continue;
        (is_member(tokens, k) ? used : own).insert(tokens[k]);
    }
    replace_changed(tokens, own);
    std::string text;
    for (const char size : {'2', '3', '4'}) {
        text += std::string("#define MSL_SWIZZLES_") + size;
        for (const std::string_view name : used) {
            const std::string indices =
                is_half(name) ? half(name, size_t(size - '0')) : components(name);
            const bool has_all = *std::max_element(indices.begin(), indices.end()) < size;
            if (has_all) text += declaration(name, indices);
        }
        text += "\n";
    }
    return text;
}

}  // namespace msl
