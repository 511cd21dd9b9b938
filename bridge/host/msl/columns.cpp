#include "columns.h"

#include <algorithm>
#include <cstdint>

namespace msl {
namespace {

constexpr size_t LONGEST = 2000;  // tokens; what is longer is not worth the quadratic table

using Tokens = std::vector<Token>;

bool same_text(const Token &a, const Token &b) {
    return a.text == b.text;
}

// Each token of `from` gets the index of its equal in the longest common subsequence, or none.
std::vector<size_t> match_rest(const Tokens &from, const Tokens &to, size_t none) {
    const size_t rows = from.size(), columns = to.size();
    std::vector<size_t> partner(rows, none);
    if (rows > LONGEST || columns > LONGEST) return partner;
    std::vector<uint16_t> length((rows + 1) * (columns + 1), 0);
    const auto at = [&](size_t i, size_t j) -> uint16_t & { return length[i * (columns + 1) + j]; };
    for (size_t i = rows; i-- > 0;) {
        for (size_t j = columns; j-- > 0;) {
            at(i, j) = from[i].text == to[j].text ? at(i + 1, j + 1) + 1
                                                  : std::max(at(i + 1, j), at(i, j + 1));
        }
    }
    for (size_t i = 0, j = 0; i < rows && j < columns;) {
        if (from[i].text == to[j].text) {
            partner[i++] = j++;
        } else if (at(i + 1, j) >= at(i, j + 1)) {
            i++;
        } else {
            j++;
        }
    }
    return partner;
}

// Likewise; most of a line is as it was, at its start and at its end.
std::vector<size_t> match(const Tokens &from, const Tokens &to, size_t none) {
    const ptrdiff_t start =
        std::mismatch(from.begin(), from.end(), to.begin(), to.end(), same_text).first -
        from.begin();
    const ptrdiff_t end =
        std::mismatch(from.rbegin(), from.rend() - start, to.rbegin(), to.rend() - start, same_text)
            .first -
        from.rbegin();
    const Tokens rest(from.begin() + start, from.end() - end);
    const Tokens other_rest(to.begin() + start, to.end() - end);
    std::vector<size_t> partner(from.size(), none);
    for (ptrdiff_t i = 0; i < start; i++)
        partner[i] = i;
    const std::vector<size_t> middle = match_rest(rest, other_rest, none);
    for (size_t i = 0; i < middle.size(); i++)
        partner[start + i] = middle[i] == none ? none : start + middle[i];
    for (ptrdiff_t i = 1; i <= end; i++)
        partner[from.size() - i] = to.size() - i;
    return partner;
}

}  // namespace

Columns::Columns(std::string_view compiled, std::string_view source)
    : compiled_(lex(compiled)), source_(lex(source)), source_line_(source) {
    const size_t none = source_.size();
    partner_ = match(compiled_, source_, none);
    // What was replaced stands where the text behind the last equal token stood.
    size_t next = 0;
    for (size_t &partner : partner_) {
        if (partner != none) {
            next = partner + 1;
        } else {
            partner = std::min(next, source_.empty() ? 0 : source_.size() - 1);
        }
    }
}

// The last token that starts at or before the column; the number of tokens if there is none.
size_t Columns::token_before(size_t column) const {
    size_t found = compiled_.size();
    for (size_t k = 0; k < compiled_.size() && compiled_[k].offset < column; k++)
        found = k;
    return found;
}

bool Columns::finds(size_t column) const {
    const size_t k = token_before(column);
    return k < compiled_.size() && !source_.empty() &&
           same_text(compiled_[k], source_[partner_[k]]);
}

size_t Columns::of(size_t column) const {
    const size_t k = token_before(column);
    if (k == compiled_.size() || source_.empty()) {
        return std::min(column, source_line_.size() + 1);
    }
    const Token &compiled = compiled_[k], &source = source_[partner_[k]];
    const size_t into = column - 1 - compiled.offset;
    if (into >= compiled.text.size()) return source.offset + source.text.size() + 1;
    return source.offset + (into < source.text.size() ? into : 0) + 1;
}

size_t Columns::end_of(size_t column) const {
    return column > 1 ? of(column - 1) + 1 : 1;
}

}  // namespace msl
