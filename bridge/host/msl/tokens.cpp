#include "tokens.h"

#include <algorithm>

namespace msl {

Tokens::Tokens(std::string text)
    : original_(std::move(text)), lines_(original_), tokens_(lex(original_)),
      replacements_(tokens_.size()), replaced_(tokens_.size()), removed_(tokens_.size()) {}

size_t Tokens::closing(size_t k) const {
    size_t depth = 0;
    for (; k < size(); k++) {
        const std::string_view token = (*this)[k];
        if (token == "(" || token == "[" || token == "{") depth++;
        if (token == ")" || token == "]" || token == "}") {
            if (--depth == 0) return k;
        }
    }
    return size();
}

size_t Tokens::closing_angle(size_t k) const {
    size_t depth = 0, last = size();
    for (const size_t first = k; k < size() && (*this)[k] != ";"; k++) {
        const std::string_view token = (*this)[k];
        if (token == "(" || token == "[" || token == "{") {
            k = closing(k);
        } else if (token == "<") {
            // Behind a parenthesis or a number it compares: sizeof(T) < 8.
            if (k == first || is(k - 1, TokenKind::Identifier)) depth++;
        } else if (token == ">") {
            last = k;
            if (--depth == 0) return k;
        }
    }
    return last;
}

std::string_view Tokens::between(size_t first, size_t last) const {
    last = std::min(last, size() - 1);
    if (first > last) return {};
    const size_t start = tokens_[first].offset;
    return std::string_view(original_).substr(start, end_of(last) - start);
}

Position Tokens::position(size_t k) const {
    return lines_.position(k < size() ? tokens_[k].offset : original_.size());
}

void Tokens::replace(size_t k, std::string text) {
    if (removed_[k]) return;
    replacements_[k] = std::move(text);
    replaced_[k] = true;
}

void Tokens::insert_before(size_t k, const std::string &text) {
    replace(k, text + (replaced_[k] ? replacements_[k] : std::string((*this)[k])));
}

void Tokens::blank(size_t first, size_t last) {
    for (size_t k = first; k <= last; k++) {
        replace(k, "");
        removed_[k] = true;
    }
}

std::string Tokens::text() const {
    return text(0, size(), 0, original_.size());
}

std::string Tokens::text(size_t first, size_t last) const {
    last = std::min(last, size() - 1);
    if (first > last) return {};
    return text(first, last + 1, tokens_[first].offset, end_of(last));
}

std::string Tokens::text(size_t first, size_t last, size_t start, size_t end) const {
    std::string result;
    result.reserve((end - start) + (end - start) / 8);
    for (size_t k = first; k < last; k++) {
        if (!replaced_[k]) continue;
        result.append(original_, start, tokens_[k].offset - start);
        result += replacements_[k];
        start = end_of(k);
    }
    return result.append(original_, start, end - start);
}

}  // namespace msl
